#include "validate/accuracy/execution/execution_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"

namespace windtunnel {
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
