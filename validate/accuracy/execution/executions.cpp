#include "validate/accuracy/execution/executions.hpp"

#include <chrono>

namespace windtunnel {

Executions execute_within(const ExecutedPlan& executed, double budget_s,
                          const ExecutionScale& scale) {
  using Clock = std::chrono::steady_clock;
  Executions executions;
  executions.predicted = predicted_timeline(executed);
  executions.scale = scale;
  const auto begin = Clock::now();
  double spent_s = 0;
  do {
    executions.measured.push_back(measured_timeline(executed, executions.scale));
    spent_s = std::chrono::duration<double>(Clock::now() - begin).count();
    const auto count = static_cast<double>(executions.measured.size());
    if (spent_s * (count + 1) / count > budget_s) break;
  } while (executions.measured.size() < kMostExecutions);
  return executions;
}

}  // namespace windtunnel
