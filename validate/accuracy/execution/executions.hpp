// Executes a predicted plan as often as a budget allows.
#pragma once

#include <vector>

#include "validate/accuracy/execution/executed_plan.hpp"

namespace windtunnel {

struct Executions {
  ExecutionScale scale;
  Timeline predicted;
  std::vector<Timeline> measured;
  int strangers = 0;  // in all executions
};

// At least one execution, and at most kMostExecutions. Throws Error as execute_plan() does.
inline constexpr int kMostExecutions = 25;
Executions execute_within(const ExecutedPlan& executed, Timeline predicted, double budget_s,
                          const ExecutionScale& scale);

}  // namespace windtunnel
