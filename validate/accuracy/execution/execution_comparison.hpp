// A Plan's simulated times against those of its executions, task by task: the step, every
// iteration, every rank and every kind of task. Times are seconds of the scenario.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "validate/accuracy/execution/executed_plan.hpp"

namespace windtunnel {

struct ComparedTime {
  double predicted_s = 0;
  double measured_s = 0;  // median over the executions
  // (predicted / measured) - 1; 0 where nothing was measured.
  double error() const { return measured_s > 0 ? predicted_s / measured_s - 1 : 0; }
};

struct ComparedRank {
  RankId rank = 0;
  ComparedTime end;  // of its last task
};

// All tasks of one kind, of all ranks: what they take together, waits inside of them included.
struct ComparedKind {
  TaskKind kind = TaskKind::compute;
  int tasks = 0;
  ComparedTime total;
  std::vector<double> measured_s;  // the same, of each execution
  // Of a 90 % interval, where one is known (execution_judgement.hpp): both as predicted, it is not.
  double low_s = 0;
  double high_s = 0;
  double within = 0;  // share of the executions inside
  bool has_interval() const { return low_s < high_s; }
  // Median over the tasks of how far each is off, as a share of what it took; tasks that take less
  // than a hundredth of their kind's mean are left out.
  double median_error = 0;
};

struct ExecutionComparison {
  int executions = 0;
  ComparedTime step;
  double low_s = 0;  // the shortest and the longest execution
  double high_s = 0;
  std::vector<ComparedTime> iterations;  // their ends
  std::vector<ComparedRank> ranks;
  std::vector<ComparedKind> kinds;  // those that the plan has
};

// `measured`: at least one.
ExecutionComparison compare_execution(const ExecutedPlan& executed, const Timeline& predicted,
                                      std::span<const Timeline> measured);

// Of the executions that it compares, the one whose step is the middle.
const Timeline& usual_execution(const ExecutedPlan& executed, std::span<const Timeline> measured,
                                const ExecutionComparison& comparison);

}  // namespace windtunnel
