// Compares a Plan's simulated times with those of its executions: the step, every iteration, every
// rank and every kind of task. Times are seconds of the scenario.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "validate/accuracy/execution/executed_plan.hpp"

namespace windtunnel {

struct ComparedTime {
  double predicted_s = 0;
  double measured_s = 0;  // median over the executions
  // (predicted / measured) - 1; 0 without a measurement.
  double error() const { return measured_s > 0 ? predicted_s / measured_s - 1 : 0; }
};

struct ComparedRank {
  RankId rank = 0;
  ComparedTime end;  // end of its last task
};

// The total time of all tasks of a kind on all ranks, including waits within them.
struct ComparedKind {
  TaskKind kind = TaskKind::compute;
  int tasks = 0;
  ComparedTime total;
  std::vector<double> measured_s;  // [execution]
  // The 90 % interval, if known (execution_judgement.hpp); both equal predicted_s if not.
  double low_s = 0;
  double high_s = 0;
  double within = 0;  // share of the executions in the interval
  bool has_interval() const { return low_s < high_s; }
  // Median over the tasks of the relative error of each; tasks shorter than a hundredth of their
  // kind's mean are left out.
  double median_error = 0;
};

struct ExecutionComparison {
  int executions = 0;
  ComparedTime step;
  double low_s = 0;  // steps of the shortest and the longest execution
  double high_s = 0;
  std::vector<ComparedTime> iterations;  // their ends
  std::vector<ComparedRank> ranks;
  std::vector<ComparedKind> kinds;  // the kinds in the plan
};

// `measured` has at least one execution.
ExecutionComparison compare_execution(const ExecutedPlan& executed, const Timeline& predicted,
                                      std::span<const Timeline> measured);

// Returns the execution with the median step time.
const Timeline& usual_execution(const ExecutedPlan& executed, std::span<const Timeline> measured,
                                const ExecutionComparison& comparison);

}  // namespace windtunnel
