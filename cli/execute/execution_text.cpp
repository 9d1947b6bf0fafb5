#include "cli/execute/execution_text.hpp"

#include <fmt/format.h>

#include "models/base/units.hpp"
#include "report/console/console.hpp"
#include "report/text/table.hpp"

namespace windtunnel {
namespace {

std::vector<std::string> time_cells(const std::string& name, const ComparedTime& time) {
  return {name, format_seconds(time.predicted_s), format_seconds(time.measured_s),
          signed_percent(time.error())};
}

std::string factor_text(double factor) {
  return factor >= 1 ? fmt::format("1/{:.4g}", factor) : fmt::format("{:.4g}/1", 1 / factor);
}

Json time_document(const ComparedTime& time) {
  return {
      {"predicted_s", time.predicted_s}, {"measured_s", time.measured_s}, {"error", time.error()}};
}

}  // namespace

std::string signed_percent(double share) {
  return fmt::format("{:+.1f} %", 100 * share);
}

std::string execution_text(const ExecutedPlan& executed, const Executions& executions,
                           const ExecutionComparison& comparison) {
  std::string text =
      fmt::format("{}: {} ranks, executed {} times at {} of its times and {} of its bytes\n\n",
                  executed.scenario, executed.plan.ranks, comparison.executions,
                  factor_text(executions.scale.times), factor_text(executions.scale.bytes));
  TextTable times{{{"", Align::left},
                   {"predicted", Align::right},
                   {"measured", Align::right},
                   {"error", Align::right}},
                  {}};
  times.rows.push_back(time_cells("step", comparison.step));
  for (const ComparedKind& kind : comparison.kinds) {
    times.rows.push_back(
        time_cells(fmt::format("{} ({} tasks)", name_of(kind.kind), kind.tasks), kind.total));
  }
  if (comparison.iterations.size() > 1) {
    for (std::size_t i = 0; i < comparison.iterations.size(); ++i) {
      times.rows.push_back(time_cells(fmt::format("end of step {}", i), comparison.iterations[i]));
    }
  }
  for (const ComparedRank& rank : comparison.ranks) {
    times.rows.push_back(time_cells(fmt::format("end of rank {}", rank.rank), rank.end));
  }
  text += table_text(times);
  if (executions.strangers > 0) {
    text += fmt::format("\n{} connections of strangers were sent away\n", executions.strangers);
  }
  return text;
}

Json execution_document(const ExecutedPlan& executed, const Executions& executions,
                        const ExecutionComparison& comparison) {
  Json document;
  document["scenario"] = executed.scenario;
  document["ranks"] = executed.plan.ranks;
  document["scale"] = {{"times", executions.scale.times}, {"bytes", executions.scale.bytes}};
  document["executions"] = comparison.executions;
  document["strangers"] = executions.strangers;
  document["step"] = time_document(comparison.step);
  document["step"]["low_s"] = comparison.low_s;
  document["step"]["high_s"] = comparison.high_s;
  document["steps"] = Json::array();
  for (const ComparedTime& end : comparison.iterations) {
    document["steps"].push_back(time_document(end));
  }
  document["ranks_end"] = Json::array();
  for (const ComparedRank& rank : comparison.ranks) {
    Json row = {{"rank", rank.rank}};
    row.update(time_document(rank.end));
    document["ranks_end"].push_back(row);
  }
  document["kinds"] = Json::array();
  for (const ComparedKind& kind : comparison.kinds) {
    Json row = {{"kind", name_of(kind.kind)}, {"tasks", kind.tasks}};
    row.update(time_document(kind.total));
    row["median_error"] = kind.median_error;
    document["kinds"].push_back(row);
  }
  return document;
}

}  // namespace windtunnel
