#include "validate/accuracy/execution/execution_judgement.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "models/base/quantile.hpp"
#include "validate/accuracy/rows/left_out_intervals.hpp"

namespace windtunnel {
namespace {

constexpr int kOverheadRuns = 5;
constexpr double kApart = 0.1;  // steps that differ by less are as long as each other

}  // namespace

JudgedExecution judge_execution(ExecutedPlan executed, double budget_s) {
  JudgedExecution judged;
  const ExecutionScale scale = fitting_scale(executed, predicted_timeline(executed), budget_s, 0);
  judged.overheads = measured_overheads(executed, scale, kOverheadRuns);
  judged.executions = execute_within(
      executed, predicted_timeline(with_overheads(executed, judged.overheads, scale)), budget_s,
      scale);
  judged.comparison =
      compare_execution(executed, judged.executions.predicted, judged.executions.measured);
  judged.executed = std::move(executed);
  return judged;
}

void add_intervals(std::span<JudgedExecution> judged) {
  ValidationReport report;
  for (const JudgedExecution& each : judged) {
    for (const Timeline& run : each.executions.measured) {
      ValidationRow row;
      row.family = each.executed.scenario;
      row.metric = "step";
      row.predicted = each.comparison.step.predicted_s;
      row.measured = step_seconds(each.executed, run);
      row.low = row.high = row.predicted;
      report.rows.push_back(std::move(row));
    }
  }
  add_left_out_intervals(report);
  std::size_t next = 0;
  for (JudgedExecution& each : judged) {
    each.low_s = report.rows[next].low;
    each.high_s = report.rows[next].high;
    double inside = 0;
    for (std::size_t run = 0; run < each.executions.measured.size(); ++run, ++next) {
      const ValidationRow& row = report.rows[next];
      inside += row.measured >= row.low && row.measured <= row.high ? 1 : 0;
    }
    each.within = inside / static_cast<double>(each.executions.measured.size());
  }
}

ExecutionVerdict verdict_on(std::span<const JudgedExecution> judged) {
  ExecutionVerdict verdict;
  std::vector<double> steps;
  std::map<TaskKind, std::vector<double>> kinds;
  std::map<TaskKind, ComparedKind> sums;
  double within = 0, runs = 0;
  for (const JudgedExecution& each : judged) {
    steps.push_back(std::abs(each.comparison.step.error()));
    for (const ComparedKind& kind : each.comparison.kinds) {
      kinds[kind.kind].push_back(std::abs(kind.total.error()));
      sums[kind.kind].kind = kind.kind;
      sums[kind.kind].tasks += kind.tasks;
      sums[kind.kind].total.predicted_s += kind.total.predicted_s;
      sums[kind.kind].total.measured_s += kind.total.measured_s;
    }
    if (!each.has_interval()) continue;
    within += each.within * each.comparison.executions;
    runs += each.comparison.executions;
  }
  verdict.median_step_error = median(steps);
  for (auto& [kind, sum] : sums) {
    sum.median_error = median(kinds[kind]);
    verdict.kinds.push_back(sum);
  }
  verdict.coverage = runs > 0 ? within / runs : -1;
  for (std::size_t a = 0; a < judged.size(); ++a) {
    for (std::size_t b = a + 1; b < judged.size(); ++b) {
      const ComparedTime& first = judged[a].comparison.step;
      const ComparedTime& second = judged[b].comparison.step;
      if (std::max(first.measured_s, second.measured_s) <=
          (1 + kApart) * std::min(first.measured_s, second.measured_s)) {
        continue;
      }
      ++verdict.pairs;
      const bool in_order =
          (first.predicted_s < second.predicted_s) == (first.measured_s < second.measured_s);
      verdict.pairs_in_order += in_order ? 1 : 0;
    }
  }
  return verdict;
}

}  // namespace windtunnel
