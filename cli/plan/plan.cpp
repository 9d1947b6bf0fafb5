// `windtunnel plan` leads from a cluster, a model and a number of tokens to a training to launch.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "cli/plan/plan_arguments.hpp"
#include "cli/plan/plan_options.hpp"
#include "cli/program/answer_output.hpp"
#include "cli/program/command.hpp"
#include "cli/program/output.hpp"
#include "cli/program/shell_line.hpp"
#include "report/answer/command_answers.hpp"
#include "scenarios/language/imports/launch.hpp"
#include "sim/study/plan/make_plan.hpp"

namespace windtunnel {
namespace {

struct PlanCommand {
  PlanOptions asked;
  std::string out;
  std::string launch, launch_to;  // --launch and --launch-to
  bool explain = false;
  AnswerOutput output;
};

std::string next_command(const PlanCommand& command) {
  if (!command.out.empty()) {
    return fmt::format("windtunnel run {} --out out", shell_word(command.out));
  }
  return "add --out best.yaml to this command, then: windtunnel run best.yaml --out out";
}

ExitCode run(const PlanCommand& command) {
  check_output_file(command.out, {command.asked.file});
  check_output_file(command.launch_to, {command.asked.file});
  check_folders(command.output);
  PlanRequest request = request_of(command.asked);
  if (!request.framework && !command.launch.empty()) {
    request.framework = launch_software(command.launch);
  }
  request.written_model = model_value_from(request.model, command.out);
  PlanReport plan;
  {
    Progress progress;
    request.progress = [&](const std::string& step) { progress.show(step); };
    plan = make_plan(request);
  }
  AnswerOutput output = command.output;
  if (!command.out.empty()) output.beside.emplace_back(command.out, plan.scenario);
  const PlanDetail detail = command.explain ? PlanDetail::full : PlanDetail::brief;
  Answer answer = plan_answer(plan, next_command(command), detail);
  std::optional<Launch> launch;
  if (!command.launch.empty()) {
    // Files that the scenario names are relative to where the scenario is written.
    const std::string file = command.out.empty() ? kPlanFile : command.out;
    launch = launch_of({.file = file, .text = plan.scenario}, command.launch);
    add_launch(*launch, answer);
    if (!command.launch_to.empty()) output.beside.emplace_back(command.launch_to, launch->text);
  }
  const bool shown = launch && command.launch_to.empty();
  hand_out(answer, output, shown ? "\n" + launch->text : "");
  return ExitCode::ok;
}

}  // namespace

Handler define_plan(CLI::App& app) {
  auto command = std::make_shared<PlanCommand>();
  add_plan_file(app, command->asked);
  add_plan_options(app, command->asked);
  add_deadline_options(app, command->asked);
  app.add_option("--out", command->out, "write the best plan as a scenario for windtunnel run")
      ->type_name("FILE");
  CLI::Option* launch =
      app.add_option("--launch", command->launch,
                     "also write the best plan as the configuration of this training program, and "
                     "list what it cannot express; without --framework, plan for this program")
          ->type_name("PROGRAM")
          ->check(one_of("program", launch_programs()));
  app.add_option("--launch-to", command->launch_to,
                 "write that configuration into this file instead of the end of the answer")
      ->type_name("FILE")
      ->needs(launch);
  app.add_flag("--explain", command->explain,
               "print everything that was tried, and the origin of each assumed value");
  add_answer_output(app, command->output);
  add_example(app, "--cluster '64 x dgx-h100' --model llama3-70b --tokens '2 T' --out best.yaml");
  return [command] { return run(*command); };
}

}  // namespace windtunnel
