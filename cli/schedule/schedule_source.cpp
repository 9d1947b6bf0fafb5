#include "cli/schedule/schedule_source.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "cli/program/load_scenario.hpp"
#include "cli/program/override_options.hpp"
#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "policies/evaluation/message_validator.hpp"
#include "policies/evaluation/schedule_lowering.hpp"
#include "policies/evaluation/schedule_validator.hpp"
#include "policies/exchange/stage_message.hpp"
#include "policies/iteration.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

struct Time {
  double value = 0;
  bool in_seconds = false;
};

// Parses "1.2" or "12 ms".
Time parse_time(const char* option, std::string_view text) {
  text = trimmed(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool plain = error == std::errc() && end == text.data() + text.size();
  try {
    if (!plain) value = parse_quantity(text, Dimension::seconds);
  } catch (const Error& fault) {
    throw Error(fmt::format("{}: {}, nor a plain number", option, fault.what()));
  }
  if (!(value >= 0 && value < 1e12)) {
    throw Error(fmt::format("{} '{}': a time must be at least 0", option, text));
  }
  return {value, !plain};
}

// Times that all layers of a rank take: forward, input gradient, weight gradient.
struct RankTimes {
  std::array<double, 3> value = {1, 1, 1};
  bool in_seconds = false;
};

RankTimes parse_times(const std::string& text) {
  RankTimes times;
  if (text.empty()) return times;
  size_t count = 0;
  size_t units = 0;
  for (size_t from = 0; from <= text.size(); ++count) {
    const size_t comma = std::min(text.find(',', from), text.size());
    const Time time = parse_time("--times", std::string_view(text).substr(from, comma - from));
    if (count < times.value.size()) times.value[count] = time.value;
    units += time.in_seconds ? 1 : 0;
    from = comma + 1;
  }
  if (count != times.value.size()) {
    throw Error(
        fmt::format("--times '{}': expected three times of a rank (forward, input gradient, weight "
                    "gradient), as in 1,1.2,0.8 or '10 ms,12 ms,8 ms'",
                    text));
  }
  if (units != 0 && units != count) {
    throw Error(fmt::format("--times '{}': give units to all three times, or to none", text));
  }
  times.in_seconds = units > 0;
  return times;
}

// Makes equal stages: each has one of `parts` equal parts of the rank's times and of a
// micro-batch's activations. Half of the activations are kept for the weight gradient.
std::vector<StageCost> equal_costs(const RankTimes& times, bool recompute, int stages, int parts) {
  StageCost cost;
  cost.forward_s = times.value[0] / parts;
  cost.backward_input_s = times.value[1] / parts;
  cost.backward_weight_s = times.value[2] / parts;
  const double activation = 1.0 / parts;
  cost.weight_activation = activation / 2;
  // With recomputation only an input is kept, which is small.
  if (recompute) {
    cost.recompute_s = cost.forward_s;
    cost.recomputed = activation;
  } else {
    cost.activation = activation;
  }
  return std::vector<StageCost>(stages, cost);
}

std::string title_of(std::string_view name, const Schedule& schedule) {
  std::string title = fmt::format("{}, {} rank{}, {} micro-batch{}", name, schedule.ranks,
                                  schedule.ranks == 1 ? "" : "s", schedule.microbatches,
                                  schedule.microbatches == 1 ? "" : "es");
  const int chunks = schedule.chunks / schedule.directions;
  if (chunks > 1) title += fmt::format(", {} chunks", chunks);
  if (schedule.directions > 1) title += fmt::format(", {} directions", schedule.directions);
  if (schedule.slices > 1) title += fmt::format(", {} slices", schedule.slices);
  if (schedule.iterations > 1) title += fmt::format(", {} iterations", schedule.iterations);
  return title;
}

// Options that only apply to a schedule given by name.
constexpr std::array<const char*, 7> kOfName = {
    "--ranks",  "--microbatches",  "--chunks",      "--group",
    "--slices", "--defer-weights", "--memory-limit"};

void reject_given(const ScheduleSourceOptions& options, std::string_view why) {
  for (const std::string& name : options.given) {
    throw Error(fmt::format("{} {}", name, why));
  }
}

bool is_file(std::string_view what) {
  return what.ends_with(".csv");
}

ScheduleSource of_scenario(const ScheduleSourceOptions& options) {
  reject_given(options, "is taken from the scenario; change it with --set");
  if (!options.times.empty() || !options.message.empty() || options.recompute) {
    throw Error(
        "--times, --message and --recompute cannot be used with --scenario, which has its own "
        "costs");
  }
  Overrides overrides = parse_overrides(options.set);
  if (is_file(options.what)) {
    const std::string path = std::filesystem::absolute(options.what).string();
    overrides.emplace_back("schedule", fmt::format("{{file: '{}'}}", path));
  } else if (!options.what.empty()) {
    overrides.emplace_back("schedule", options.what);
  }
  const auto the_case =
      std::make_shared<const Case>(load_scenario(options.scenario, overrides).at());
  const Job& job = the_case->job;
  const std::vector<ChunkCost>& units = the_case->prepared->units;
  ScheduleSource source;
  source.the_case = the_case;
  source.schedule = the_case->prepared->schedule;
  source.request.costs = stage_costs(units);
  if (job.layout.pp > 1) {
    source.message_s = boundary_s(job, 0, units.front().boundary_bytes);
    source.request.port_s = source.message_s - boundary_latency_s(job, 0);
  }
  source.title =
      fmt::format("{} of {}", title_of(source.schedule.name, source.schedule), the_case->scenario);
  source.in_seconds = true;
  source.in_bytes = true;
  source.request.group = job.schedule.group;
  source.request.memory_limit = job.schedule.memory_limit;
  return source;
}

// Adds the costs from the command line to an existing schedule.
void add_costs(const ScheduleSourceOptions& options, ScheduleSource& source) {
  const RankTimes times = parse_times(options.times);
  const Time message = options.message.empty() ? Time{} : parse_time("--message", options.message);
  if (message.value > 0 && message.in_seconds != times.in_seconds) {
    throw Error("--times and --message: give units to both, or to neither");
  }
  const Schedule& schedule = source.schedule;
  source.in_seconds = times.in_seconds;
  source.message_s = message.value;
  source.request.costs =
      equal_costs(times, options.recompute, schedule.model_stages() * schedule.slices,
                  schedule.chunks / schedule.directions * schedule.slices);
}

ScheduleSource of_name(const ScheduleSourceOptions& options) {
  const int usual = schedule_kind(options.what).usual_chunks;
  ScheduleRequest request;
  request.ranks = options.ranks;
  request.microbatches = options.microbatches;
  request.chunks = options.chunks > 0 ? options.chunks : usual;
  request.group = options.group;
  request.slices = options.slices;
  request.memory_limit = options.memory_limit;
  check_request(request);
  if (!options.message.empty()) request.message_s = parse_time("--message", options.message).value;
  request.costs =
      equal_costs(parse_times(options.times), options.recompute,
                  options.ranks * request.chunks * options.slices, request.chunks * options.slices);
  ScheduleSource source;
  source.schedule = generate_schedule(options.what, request);
  if (options.defer_weights) source.schedule = with_deferred_weights(std::move(source.schedule));
  source.request = std::move(request);
  add_costs(options, source);
  source.title = title_of(options.what, source.schedule);
  return source;
}

ScheduleSource of_file(const ScheduleSourceOptions& options) {
  reject_given(options, "applies to a schedule by name; a file already contains it");
  const TorchSchedule torch = load_torch_schedule(options.what, options.dialect);
  ScheduleSource source;
  // Gathers and reductions have no cost in this analysis.
  source.schedule = compute_only(torch.schedule);
  add_costs(options, source);
  source.title = title_of(options.what, source.schedule);
  source.notes.push_back(describe(torch));
  return source;
}

}  // namespace

std::shared_ptr<ScheduleSourceOptions> add_schedule_source(const CommandLine& app) {
  auto options = std::make_shared<ScheduleSourceOptions>();
  ScheduleSourceOptions& to = *options;
  app.add_option("SCHEDULE", to.what, "a name of `schedule list`, or a torch CSV (FILE.csv)");
  app.add_option("--ranks", to.ranks, "pipeline ranks (default 4)", "P");
  app.add_option("--microbatches", to.microbatches, "micro-batches of an iteration (default 8)",
                 "M");
  app.add_option("--chunks", to.chunks,
                 "model chunks per rank (default: the usual number of the schedule)", "V");
  app.add_option("--group", to.group, "micro-batches that pass through a chunk together", "G");
  app.add_option("--slices", to.slices, "pieces into which a sequence is cut", "K");
  app.add_flag("--defer-weights", to.defer_weights, "move the weight gradients to the end (2BP)");
  app.add_option("--times", to.times,
                 "times of forward, input gradient and weight gradient of all layers of a rank, as "
                 "in 1,1.2,0.8 or '10 ms,12 ms,8 ms' (default 1,1,1)",
                 "F,I,W");
  app.add_flag("--recompute", to.recompute, "backward passes recompute the forward pass");
  app.add_option("--message", to.message, "time of a message between ranks (default 0)", "T");
  app.add_option("--memory-limit", to.memory_limit,
                 "limit of a rank's activations, in units of those of one micro-batch on a rank; "
                 "for a limit in bytes use schedule.memory_limit of a scenario",
                 "A");
  add_dialect(app, to.dialect);
  app.add_option("--scenario", to.scenario, "ranks, micro-batches and costs of this job (YAML)",
                 "FILE");
  app.add_set(to.set);
  app.when_read([app, &to] {
    for (const char* name : kOfName) {
      if (app.given(name)) to.given.emplace_back(name);
    }
  });
  return options;
}

ScheduleReport analysed(const ScheduleSource& source, const Schedule& schedule,
                        const AnalysisOptions& options, Sends sends) {
  const Messages messages{{{source.message_s}, {source.message_s}}, sends};
  return {.title = source.title,
          .notes = source.notes,
          .schedule = schedule,
          .analysis = analyse_schedule(schedule, source.request.costs, messages, options),
          .options = options,
          .sends = sends,
          .in_seconds = source.in_seconds,
          .in_bytes = source.in_bytes};
}

ScheduleSource load_schedule_source(const ScheduleSourceOptions& options) {
  if (options.scenario.empty() && !options.set.empty()) {
    throw Error("--set changes a scenario; add --scenario FILE");
  }
  if (options.scenario.empty() && options.what.empty()) {
    throw Error(
        "which schedule? give a name (see `windtunnel schedule list`), a torch CSV, or "
        "--scenario FILE");
  }
  if (!options.dialect.empty() && !is_file(options.what)) {
    throw Error("--dialect describes a torch CSV, and none is named");
  }
  ScheduleSource source = !options.scenario.empty() ? of_scenario(options)
                          : is_file(options.what)   ? of_file(options)
                                                    : of_name(options);
  validate_schedule(source.schedule);
  source.request.ranks = source.schedule.ranks;
  source.request.microbatches = source.schedule.microbatches;
  source.request.chunks = source.schedule.chunks / source.schedule.directions;
  source.request.slices = source.schedule.slices;
  source.request.message_s = source.message_s;
  return source;
}

std::optional<TorchDialect> parse_dialect(const std::string& name) {
  if (name.empty()) return std::nullopt;
  if (name == "current") return TorchDialect::current;
  if (name == "old") return TorchDialect::old;
  throw Error("--dialect: " + unknown_name("dialect", name, {"current", "old"}));
}

void add_dialect(const CommandLine& app, std::string& dialect) {
  app.add_option("--dialect", dialect,
                 "letters in a torch CSV for input gradient, weight gradient and full backward: "
                 "current (I, W, B) or old (B, W, BW); default: as the file shows",
                 "WHICH:{current,old}");
}

TorchSchedule load_torch_schedule(const std::string& path, const std::string& dialect) {
  TorchSchedule torch = read_torch_schedule(path, parse_dialect(dialect));
  if (const std::optional<ScheduleFault> fault = find_message_fault(torch.schedule)) {
    const Action& action = torch.schedule.actions[fault->rank][fault->position];
    throw Error(torch.place(fault->rank, fault->position),
                fmt::format("'{}' of rank {}: {}", to_string(action), fault->rank, fault->what));
  }
  return torch;
}

std::string describe(const TorchSchedule& torch) {
  std::string text = fmt::format("dialect {}", letters_of(torch.dialect));
  if (torch.messages) text += "; names its messages";
  if (torch.extended) text += "; in windtunnel's extension";
  return text;
}

}  // namespace windtunnel
