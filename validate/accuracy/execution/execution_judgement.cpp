#include "validate/accuracy/execution/execution_judgement.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "models/base/quantile.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {
namespace {

constexpr int kOverheadRuns = 5;
constexpr double kApart = 0.1;  // steps that differ by less count as equal

}  // namespace

JudgedExecution judge_execution(ExecutedPlan executed, double budget_s) {
  JudgedExecution judged;
  const Timeline bare = predicted_timeline(executed);
  const ExecutionScale scale = fitting_scale(executed, bare, budget_s, 0);
  judged.overheads = measured_overheads(executed, scale, kOverheadRuns);
  const ExecutedPlan told =
      with_bursts(with_overheads(executed, judged.overheads, scale), bare, scale);
  judged.executions = execute_within(executed, predicted_timeline(told), budget_s, scale);
  judged.comparison =
      compare_execution(executed, judged.executions.predicted, judged.executions.measured);
  judged.executed = std::move(executed);
  return judged;
}

void add_intervals(std::span<JudgedExecution> judged) {
  ValidationReport report;
  const auto add_row = [&](const JudgedExecution& each, const std::string& metric,
                           double predicted_s, double measured_s) {
    ValidationRow row;
    row.family = each.executed.scenario;
    row.metric = metric;
    row.predicted = row.low = row.high = predicted_s;
    row.measured = measured_s;
    report.rows.push_back(std::move(row));
  };
  for (const JudgedExecution& each : judged) {
    for (const Timeline& run : each.executions.measured) {
      add_row(each, "step", each.comparison.step.predicted_s, step_seconds(each.executed, run));
    }
    for (const ComparedKind& kind : each.comparison.kinds) {
      for (const double measured_s : kind.measured_s) {
        add_row(each, name_of(kind.kind), kind.total.predicted_s, measured_s);
      }
    }
  }
  add_left_out_intervals(report);
  std::size_t next = 0;
  const auto take = [&](std::size_t runs, auto& of) {
    of.low_s = report.rows[next].low;
    of.high_s = report.rows[next].high;
    double inside = 0;
    for (std::size_t run = 0; run < runs; ++run, ++next) {
      const ValidationRow& row = report.rows[next];
      inside += row.measured >= row.low && row.measured <= row.high ? 1 : 0;
    }
    of.within = inside / static_cast<double>(runs);
  };
  for (JudgedExecution& each : judged) {
    take(each.executions.measured.size(), each);
    for (ComparedKind& kind : each.comparison.kinds) take(kind.measured_s.size(), kind);
  }
}

ExecutionVerdict verdict_on(std::span<const JudgedExecution> judged) {
  ExecutionVerdict verdict;
  std::vector<double> steps;
  std::map<TaskKind, std::vector<double>> kinds;
  std::map<TaskKind, ComparedKind> sums;
  std::map<TaskKind, double> inside, runs_of;
  double within = 0, runs = 0;
  for (const JudgedExecution& each : judged) {
    steps.push_back(std::abs(each.comparison.step.error()));
    for (const ComparedKind& kind : each.comparison.kinds) {
      kinds[kind.kind].push_back(std::abs(kind.total.error()));
      sums[kind.kind].kind = kind.kind;
      sums[kind.kind].tasks += kind.tasks;
      sums[kind.kind].total.predicted_s += kind.total.predicted_s;
      sums[kind.kind].total.measured_s += kind.total.measured_s;
      if (!kind.has_interval()) continue;
      inside[kind.kind] += kind.within * each.comparison.executions;
      runs_of[kind.kind] += each.comparison.executions;
    }
    if (!each.has_interval()) continue;
    within += each.within * each.comparison.executions;
    runs += each.comparison.executions;
  }
  verdict.median_step_error = median(steps);
  for (auto& [kind, sum] : sums) {
    sum.median_error = median(kinds[kind]);
    sum.within = runs_of[kind] > 0 ? inside[kind] / runs_of[kind] : -1;
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
