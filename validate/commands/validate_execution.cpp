#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <map>
#include <memory>

#include "cli/program/answer_output.hpp"
#include "cli/program/command.hpp"
#include "cli/program/command_line.hpp"
#include "cli/program/output.hpp"
#include "models/base/units.hpp"
#include "validate/accuracy/execution/execution_judgement.hpp"
#include "validate/commands/validate_commands.hpp"
#include "validate/pages/execution_answer.hpp"

namespace windtunnel {
namespace {

struct ValidateExecutionOptions {
  std::vector<std::string> scenarios;
  std::vector<std::string> set;
  std::string budget = "10 s";
  double fail_above = std::numeric_limits<double>::infinity();
  std::string kernels;
  bool testbed = false;
  AnswerOutput output;
};

std::string share_text(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string known_text(const JudgedExecution& judged, double seconds) {
  return judged.has_interval() ? format_seconds(seconds) : "not known";
}

std::string inside_text(const JudgedExecution& judged) {
  if (!judged.has_interval()) return "";
  const int runs = judged.comparison.executions;
  return fmt::format("{:.0f} of {}", judged.within * runs, runs);
}

// Lists which scenarios were executed in which way.
std::string all_ways_text(const std::vector<JudgedExecution>& judged) {
  std::map<std::string, std::string> scenarios;
  for (const JudgedExecution& each : judged) {
    std::string& names = scenarios[ways_text(each.executed)];
    names += (names.empty() ? "" : ", ") + each.executed.scenario;
  }
  std::string text;
  for (const auto& [ways, names] : scenarios) {
    if (!text.empty()) text += "; ";
    text += scenarios.size() == 1 ? ways : fmt::format("{}: {}", ways, names);
  }
  return text;
}

TextTable judged_table(const std::vector<JudgedExecution>& judged) {
  TextTable table = titled_table(
      "scenario | ranks > | predicted > | from > | to > | measured > | error > | "
      "inside > | kinds of task");
  for (const JudgedExecution& each : judged) {
    std::string kinds;
    for (const ComparedKind& kind : each.comparison.kinds) {
      if (!kinds.empty()) kinds += ", ";
      kinds += fmt::format("{} {}", name_of(kind.kind), signed_percent(kind.total.error()));
    }
    const ComparedTime& step = each.comparison.step;
    table.rows.push_back({each.executed.scenario, fmt::format("{}", each.executed.plan.ranks),
                          format_seconds(step.predicted_s), known_text(each, each.low_s),
                          known_text(each, each.high_s), format_seconds(step.measured_s),
                          signed_percent(step.error()), inside_text(each), kinds});
  }
  return table;
}

Json overheads_document(const MachineOverheads& overheads) {
  return {{"wait_s", overheads.wait_s},
          {"send_s", overheads.send_s},
          {"arrival_s", overheads.arrival_s},
          {"round_s", overheads.round_s}};
}

Json judged_document(const std::vector<JudgedExecution>& judged, const ExecutionVerdict& verdict) {
  Json document;
  document["executions"] = Json::array();
  for (const JudgedExecution& each : judged) {
    Json row = execution_document(each.executed, each.executions, each.comparison);
    const auto known = [&](double value) {
      return each.has_interval() ? Json(value) : Json(nullptr);
    };
    row["predicted_low_s"] = known(each.low_s);
    row["predicted_high_s"] = known(each.high_s);
    row["within"] = known(each.within);
    row["overheads"] = overheads_document(each.overheads);
    document["executions"].push_back(row);
  }
  document["median_step_error"] = verdict.median_step_error;
  document["kinds"] = Json::array();
  for (const ComparedKind& kind : verdict.kinds) {
    document["kinds"].push_back(
        {{"kind", name_of(kind.kind)},
         {"median_error", kind.median_error},
         {"coverage90", kind.within >= 0 ? Json(kind.within) : Json(nullptr)},
         {"error", kind.total.error()}});
  }
  document["coverage90"] = verdict.coverage >= 0 ? Json(verdict.coverage) : Json(nullptr);
  document["pairs"] = verdict.pairs;
  document["pairs_in_order"] = verdict.pairs_in_order;
  return document;
}

SummarySection verdict_section(const ExecutionVerdict& verdict) {
  SummarySection section{"Over all of them",
                         {{"step", "median error " + share_text(verdict.median_step_error)}}};
  for (const ComparedKind& kind : verdict.kinds) {
    section.add(name_of(kind.kind), "median error {} over the scenarios, {} over all tasks{}",
                share_text(kind.median_error), signed_percent(kind.total.error()),
                kind.within >= 0
                    ? fmt::format("; {} in their 90 % interval", share_text(kind.within))
                    : "");
  }
  section.rows.push_back(
      {"intervals", verdict.coverage >= 0
                        ? fmt::format("{} of the executions are within their 90 % interval",
                                      share_text(verdict.coverage))
                        : "none, because they need the errors of at least two other scenarios"});
  section.add("in order", "{} of {} pairs that differ by more than 10 %", verdict.pairs_in_order,
              verdict.pairs);
  return section;
}

Answer answer_of(const std::vector<JudgedExecution>& judged, const ExecutionVerdict& verdict) {
  return {.title = "Executed plans compared with their simulation",
          .subtitle = all_ways_text(judged),
          .figures = {{"median error", share_text(verdict.median_step_error), "of the steps"}},
          .sections = {{"Steps", {}, judged_table(judged)}, verdict_section(verdict)},
          .kind = "validate-execution",
          .document = [&] { return judged_document(judged, verdict); }};
}

ExitCode validate_execution(const ValidateExecutionOptions& options) {
  const double budget_s = budget_of(options.budget);
  std::vector<ExecutedPlan> plans;
  for (const std::string& scenario : options.scenarios) {
    plans.push_back(read_executed_plan(scenario, options.set));
  }
  for (ExecutedPlan& plan : plans) plan.testbed = options.testbed && testbed_is_there(plan.cluster);
  for (ExecutedPlan& plan : plans) take_kernels(plan, options.kernels);
  std::vector<JudgedExecution> judged;
  Progress progress;
  for (ExecutedPlan& plan : plans) {
    progress.show(fmt::format("{} ({} of {})", plan.scenario, judged.size() + 1, plans.size()));
    judged.push_back(judge_execution(std::move(plan), budget_s));
  }
  progress.wipe();
  add_intervals(judged);
  const ExecutionVerdict verdict = verdict_on(judged);
  hand_out(answer_of(judged, verdict), options.output);
  return verdict.median_step_error <= options.fail_above ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

ValidationCommand define_validate_execution(CLI::App& validate) {
  auto options = std::make_shared<ValidateExecutionOptions>();
  CLI::App* app = validate.add_subcommand(
      "execution",
      "run plans for real in processes of this machine, and compare them with their simulation");
  app->add_option("SCENARIO", options->scenarios, "scenario files (YAML) of at most 64 ranks each")
      ->required();
  app->add_option("--set", options->set, "set a key of all scenarios; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app->add_option("--budget", options->budget, "time budget for each scenario (default: 10 s)")
      ->type_name("TIME");
  app->add_option("--fail-above", options->fail_above,
                  "exit with 1 if the median error of the steps exceeds this share")
      ->type_name("SHARE")
      ->check(number_in(0.0, 1e6));
  add_kernels_option(*app, options->kernels);
  app->add_flag(
      "--testbed", options->testbed,
      "make each node a network namespace, with link rates enforced by the kernel (needs root)");
  add_answer_output(*app, options->output);
  add_example(*app, "scenarios/execution/ring.yaml scenarios/execution/tree.yaml --budget '5 s'");
  return {app, [options] { return validate_execution(*options); }};
}

}  // namespace windtunnel
