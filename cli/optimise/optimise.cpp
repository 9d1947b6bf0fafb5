// windtunnel optimise: finds the best feasible configuration of a job, or the best intervals of its
// snapshots.
#include "sim/study/optimise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "cli/optimise/optimise_parts.hpp"
#include "cli/program/answer_output.hpp"
#include "cli/program/command.hpp"
#include "cli/program/load_scenario.hpp"
#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "report/answer/command_answers.hpp"

namespace windtunnel {
namespace {

struct OptimiseCommand {
  std::string scenario;
  std::vector<std::string> over;
  std::string aim = "iteration";
  std::vector<std::string> set;
  double headroom_percent = 0;
  int top = 10;
  int simulate = 3;
  int threads = 0;
  AnswerOutput output;
};

constexpr std::array<std::pair<const char*, Aim>, 4> kAims = {{{"iteration", Aim::iteration},
                                                               {"memory", Aim::memory},
                                                               {"goodput", Aim::goodput},
                                                               {"cost", Aim::cost}}};

Aim aim_of(const OptimiseCommand& command) {
  for (const auto& [name, aim] : kAims) {
    if (command.aim == name) return aim;
  }
  throw InternalError("an aim that is not listed");
}

// Converts --over: kinds of configuration that are enumerated go to the result, KEY=A,B,C to
// `lists`.
OptimiseOptions options_of(const OptimiseCommand& command, std::vector<std::string>& lists) {
  OptimiseOptions options;
  for (const std::string& what : command.over) {
    if (what.find('=') != std::string::npos) {
      lists.push_back(what);
    } else if (is_interval_key(what)) {
      options.intervals.push_back(what);
    } else if (what == "layout") {
      options.layout = true;
    } else if (what == "schedule") {
      options.schedule = true;
    } else if (what == "batch.micro") {
      options.micro_batch = true;
    } else if (what == "recompute") {
      options.recompute = options.recompute_modules = true;
    } else if (what == "offload") {
      options.offload = true;
    } else {
      const std::string unknown =
          unknown_name("kind of configuration", what,
                       {"layout", "schedule", "batch.micro", "recompute", "offload", "rollout"});
      throw Error(fmt::format(
          "{}{} snapshots.N.every is also searched; other keys need their values: KEY=A,B,C",
          unknown, unknown.ends_with('?') ? "" : ";"));
    }
  }
  // A list for a key that is enumerated anyway would be overwritten.
  for (const std::string& list : lists) {
    const auto clashes = [&](bool wanted, const char* start) {
      return wanted && list.starts_with(start);
    };
    if (clashes(options.layout, "layout") || clashes(options.schedule, "schedule") ||
        clashes(options.micro_batch, "batch.micro=") || clashes(options.recompute, "recompute=") ||
        clashes(options.offload, "offload")) {
      throw Error(fmt::format("--over '{}': this key is already varied as a whole", list));
    }
  }
  options.headroom = command.headroom_percent / 100;
  options.top = command.top;
  options.simulated = command.simulate;
  options.threads = command.threads;
  options.aim = aim_of(command);
  // The text shows no advice on intervals; pages and documents do.
  const bool shown = command.output.json || command.output.has_files();
  options.depth = shown ? StudyDepth::intervals : StudyDepth::campaign;
  return options;
}

// --over rollout excludes other searches, because every split has a learner of its own.
ExitCode run_rollout(const OptimiseCommand& command) {
  if (command.over.size() > 1 || command.aim != "iteration") {
    throw Error(
        "--over rollout cannot be combined with others; it maximises samples/s; set other keys "
        "with --set");
  }
  return optimise_rollout(
      {command.scenario,
       command.set,
       {.top = command.top, .simulated = command.simulate, .threads = command.threads},
       command.output});
}

ExitCode run(const OptimiseCommand& command) {
  if (std::ranges::find(command.over, "rollout") != command.over.end()) return run_rollout(command);
  std::vector<std::string> lists;
  OptimiseOptions options = options_of(command, lists);
  if (!options.intervals.empty() && options.aim != Aim::goodput && options.aim != Aim::cost) {
    throw Error("intervals of snapshots are searched only with --for goodput or --for cost");
  }
  if (options.intervals.size() == command.over.size()) {
    return optimise_intervals(
        {command.scenario,
         command.set,
         {.keys = options.intervals, .aim = options.aim, .threads = command.threads},
         command.output});
  }
  const std::vector<VariedKey> varied = parse_varied(lists, "--over");
  const std::vector<Overrides> points = cross_product(varied);
  const ScenarioText scenario = load_scenario(command.scenario, parse_overrides(command.set)).text;
  Optimisation result;
  {
    Progress progress;
    options.progress = [&](const std::string& step) { progress.show(step); };
    result = optimise(scenario, points, options);
  }
  const OptimiseAsked asked{.scenario = command.scenario,
                            .aim = command.aim,
                            .over = fmt::format("{}", fmt::join(command.over, " ")),
                            .run = run_line(command.scenario, command.set, result.best.front().set),
                            .varied = varied};
  hand_out(optimise_answer(result, asked), command.output);
  return ExitCode::ok;
}

}  // namespace

Handler define_optimise(const CommandLine& app) {
  auto command = std::make_shared<OptimiseCommand>();
  app.add_option("SCENARIO", command->scenario, "scenario file (YAML)").required();
  app.add_option(
         "--over", command->over,
         "what to vary: layout, schedule, batch.micro, recompute, offload, KEY=A,B,C; "
         "snapshots.N.every (or .*.) searches intervals for each of the best; rollout, only by "
         "itself, divides nodes between learner and engines and chooses the size of an engine",
         "WHAT...")
      .required();
  app.add_option("--for", command->aim,
                 "what is best: iteration (default): the shortest iteration; memory: the least on "
                 "the fullest GPU; goodput or cost: campaigns are simulated of the configurations "
                 "that are best by iteration time, or by cost if nothing fails",
                 "AIM")
      .check(one_of("aim", {"iteration", "memory", "goodput", "cost"}));
  app.add_set(command->set);
  app.add_option("--headroom", command->headroom_percent,
                 "percent of a GPU's memory to keep free (default 0)", "PERCENT")
      .check(number_in(0, 90));
  app.add_option("--top", command->top, "number of places in the ranking (default 10)", "N")
      .check(whole_in(1, 10000));
  app.add_option("--simulate", command->simulate,
                 "how many of these are simulated with network contention (default 3)", "N")
      .check(whole_in(0, 10000));
  add_answer_output(app, command->output);
  app.add_threads(command->threads,
                  "threads (default: all cores); the result does not depend on it");
  add_example(app, "scenarios/llama3-405b.yaml --over layout schedule --top 5");
  return [command] { return run(*command); };
}

}  // namespace windtunnel
