// Executions of several scenarios against what was predicted of them before: how far steps and
// kinds of tasks are off, whether intervals hold what happened, whether the order is right.
#pragma once

#include <span>
#include <vector>

#include "validate/accuracy/execution/execution_comparison.hpp"
#include "validate/accuracy/execution/executions.hpp"
#include "validate/accuracy/execution/machine_overheads.hpp"

namespace windtunnel {

struct JudgedExecution {
  ExecutedPlan executed;
  MachineOverheads overheads;
  Executions executions;  // predicted with the overheads
  ExecutionComparison comparison;
  double low_s = 0;  // of the predicted step, 90 %; both as predicted: not known
  double high_s = 0;
  bool has_interval() const { return low_s < high_s; }
  double within = 0;  // share of the executions whose step lies in between
};

// Measures this machine, predicts, executes, in this order.
JudgedExecution judge_execution(ExecutedPlan executed, double budget_s);

// Of steps and kinds of task, by how far the predictions of the other scenarios were off
// (add_left_out_intervals()).
void add_intervals(std::span<JudgedExecution> judged);

struct ExecutionVerdict {
  double median_step_error = 0;
  // `median_error`: over the scenarios, of what they take together; `within`: of all executions
  // with an interval, -1: there are none.
  std::vector<ComparedKind> kinds;
  double coverage = 0;  // of all executions with an interval; -1: there are none
  int pairs = 0;        // of scenarios whose measured steps differ by over 10 %
  int pairs_in_order = 0;
};
ExecutionVerdict verdict_on(std::span<const JudgedExecution> judged);

}  // namespace windtunnel
