#include "validate/accuracy/execution/execution_judgement.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "models/base/error.hpp"
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

namespace {

double seconds(const Span& span) {
  return span.end_s - span.start_s;
}

ComparedTime compared(const Timeline& predicted, std::span<const Timeline> measured,
                      const std::function<double(const Timeline&)>& time_of) {
  std::vector<double> times;
  for (const Timeline& each : measured) times.push_back(time_of(each));
  return {time_of(predicted), median(times)};
}

// Calls visit(task, index of its span) for all tasks of the kind.
template <typename Visit>
void for_each_task(const Plan& plan, const Timeline& timeline, TaskKind kind, const Visit& visit) {
  for (std::size_t r = 0; r < timeline.ranks.size(); ++r) {
    const std::vector<Task>& tasks = plan.classes[timeline.ranks[r].rank_class].tasks;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (tasks[t].kind == kind) visit(r, t);
    }
  }
}

ComparedKind compared_kind(const Plan& plan, const Timeline& predicted,
                           std::span<const Timeline> measured, TaskKind kind) {
  ComparedKind result;
  result.kind = kind;
  const auto sum_of = [&](const Timeline& timeline) {
    double sum_s = 0;
    for_each_task(plan, timeline, kind, [&](std::size_t r, std::size_t t) {
      sum_s += seconds(timeline.ranks[r].spans[t]);
    });
    return sum_s;
  };
  result.total = compared(predicted, measured, sum_of);
  for (const Timeline& each : measured) result.measured_s.push_back(sum_of(each));
  for_each_task(plan, predicted, kind, [&](std::size_t, std::size_t) { ++result.tasks; });
  if (result.tasks == 0) return result;
  const double least_s = result.total.measured_s / result.tasks / 100;
  std::vector<double> errors;
  for_each_task(plan, predicted, kind, [&](std::size_t r, std::size_t t) {
    const auto span_s = [&](const Timeline& timeline) {
      return seconds(timeline.ranks[r].spans[t]);
    };
    const ComparedTime task = compared(predicted, measured, span_s);
    if (task.measured_s > least_s) errors.push_back(std::abs(task.error()));
  });
  result.median_error = errors.empty() ? 0 : median(errors);
  return result;
}

}  // namespace

ExecutionComparison compare_execution(const ExecutedPlan& executed, const Timeline& predicted,
                                      std::span<const Timeline> measured) {
  CHECK(!measured.empty(), "no execution");
  ExecutionComparison result;
  result.executions = static_cast<int>(measured.size());
  const auto step_of = [&](const Timeline& timeline) { return step_seconds(executed, timeline); };
  result.step = compared(predicted, measured, step_of);
  result.low_s = step_of(*std::ranges::min_element(measured, {}, step_of));
  result.high_s = step_of(*std::ranges::max_element(measured, {}, step_of));
  for (std::size_t i = 0; i < predicted.iteration_end_s.size(); ++i) {
    result.iterations.push_back(compared(predicted, measured, [i](const Timeline& timeline) {
      return timeline.iteration_end_s[i];
    }));
  }
  for (std::size_t r = 0; r < predicted.ranks.size(); ++r) {
    result.ranks.push_back(
        {predicted.ranks[r].rank, compared(predicted, measured, [r](const Timeline& timeline) {
           double end_s = 0;
           for (const Span& span : timeline.ranks[r].spans) end_s = std::max(end_s, span.end_s);
           return end_s;
         })});
  }
  for (std::size_t kind = 0; kind < names_of(TaskKind{}).size(); ++kind) {
    ComparedKind each =
        compared_kind(executed.plan, predicted, measured, static_cast<TaskKind>(kind));
    if (each.tasks > 0) result.kinds.push_back(each);
  }
  return result;
}

const Timeline& usual_execution(const ExecutedPlan& executed, std::span<const Timeline> measured,
                                const ExecutionComparison& comparison) {
  return *std::ranges::min_element(measured, {}, [&](const Timeline& each) {
    return std::abs(step_seconds(executed, each) - comparison.step.measured_s);
  });
}

}  // namespace windtunnel
