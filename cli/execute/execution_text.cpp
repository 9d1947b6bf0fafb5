#include "cli/execute/execution_text.hpp"

#include <fmt/format.h>

#include "report/console/console.hpp"
#include "report/text/table.hpp"
#include "report/validation/execution_tables.hpp"

namespace windtunnel {
namespace {

Json time_document(const ComparedTime& time) {
  return {
      {"predicted_s", time.predicted_s}, {"measured_s", time.measured_s}, {"error", time.error()}};
}

}  // namespace

std::string execution_text(const ExecutedPlan& executed, const Executions& executions,
                           const ExecutionComparison& comparison) {
  std::string text =
      executions_line(executed, executions) + "\n\n" + table_text(execution_table(comparison));
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
  const ExecutionWays ways = execution_ways(executed);
  document["links"] = ways.links;
  document["computations"] = ways.computations;
  document["collectives"] = ways.collectives;
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
