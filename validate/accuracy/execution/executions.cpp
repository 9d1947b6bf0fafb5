#include "validate/accuracy/execution/executions.hpp"

#include <chrono>
#include <utility>

namespace windtunnel {

Executions execute_within(const ExecutedPlan& executed, Timeline predicted, double budget_s,
                          const ExecutionScale& scale) {
  using Clock = std::chrono::steady_clock;
  Executions executions;
  executions.predicted = std::move(predicted);
  executions.scale = scale;
  const auto begin = Clock::now();
  double spent_s = 0;
  do {
    PlanRun execution = measured_execution(executed, executions.scale);
    executions.measured.push_back(std::move(execution.timeline));
    executions.strangers += execution.strangers;
    spent_s = std::chrono::duration<double>(Clock::now() - begin).count();
    const auto count = static_cast<double>(executions.measured.size());
    if (spent_s * (count + 1) / count > budget_s) break;
  } while (executions.measured.size() < kMostExecutions);
  return executions;
}

}  // namespace windtunnel
