// Judges predictions of several scenarios by executing them: this compares step times and times per
// kind of task, the coverage of intervals, and the ranking.
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
  // The 90 % interval, if known (add_intervals()); both equal predicted_s if not.
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

// Compares a Plan's simulated times with those of its executions: the step, every iteration, every
// rank and every kind of task. Times are seconds of the scenario. `measured` has at least one
// execution.
ExecutionComparison compare_execution(const ExecutedPlan& executed, const Timeline& predicted,
                                      std::span<const Timeline> measured);

// Returns the execution with the median step time.
const Timeline& usual_execution(const ExecutedPlan& executed, std::span<const Timeline> measured,
                                const ExecutionComparison& comparison);

// ---- The overheads of this machine: threads wake late, frames pass a kernel. They are measured on
// a separate plan of equal waits, messages and rounds, with as many ranks and at the same scale as
// the plan to predict; nothing is fitted to what is judged.

// Each value is in real seconds per task or event.
struct MachineOverheads {
  double wait_s = 0;     // a task that only takes time
  double send_s = 0;     // a send: its thread wakes late
  double arrival_s = 0;  // a message: from the end of its send to the end of its receive
  double round_s = 0;    // a step of a collective
};

// Returns the medians of several runs.
MachineOverheads measured_overheads(const ExecutedPlan& like, const ExecutionScale& scale,
                                    int runs);

// Returns the plan with each task lengthened by its overhead. A receive takes no time itself
// (plan.hpp), so the tasks that wait for it become longer.
ExecutedPlan with_overheads(const ExecutedPlan& executed, const MachineOverheads& overheads,
                            const ExecutionScale& scale);

// Returns the plan on which overheads are measured, with the same ranks on the same machine: waits,
// then messages between pairs (on different nodes if the plan has such messages), then sums round a
// ring of all ranks.
ExecutedPlan overhead_probe(const ExecutedPlan& like, const ExecutionScale& scale);

// ---- The judgement.

struct JudgedExecution {
  ExecutedPlan executed;
  MachineOverheads overheads;
  Executions executions;  // predicted with the overheads
  ExecutionComparison comparison;
  double low_s = 0;  // 90 % interval of the predicted step; both equal the prediction if not known
  double high_s = 0;
  bool has_interval() const { return low_s < high_s; }
  double within = 0;  // share of the executions with a step in the interval
};

// Measures this machine, predicts, then executes.
JudgedExecution judge_execution(ExecutedPlan executed, double budget_s);

// Adds intervals to steps and kinds of tasks, from the errors in the other scenarios
// (add_left_out_intervals()).
void add_intervals(std::span<JudgedExecution> judged);

struct ExecutionVerdict {
  double median_step_error = 0;
  // `median_error` is over the scenarios' totals; `within` is over all executions with an interval,
  // or -1 without any.
  std::vector<ComparedKind> kinds;
  double coverage = 0;  // over all executions with an interval; -1: there are none
  int pairs = 0;        // of scenarios whose measured steps differ by more than 10 %
  int pairs_in_order = 0;
};
ExecutionVerdict verdict_on(std::span<const JudgedExecution> judged);

// Accounts in simulations for the bytes that ports of a testbed pass at once after a pause
// (validate/harness/execute/testbed.hpp). A bucket of b bytes fills at the rate r of its port: of m
// bytes sent after a pause p, only m - min(b, r p) take time. Returns the plan with messages and
// collectives reduced by these bytes; unchanged without a testbed. `predicted` is for the unchanged
// plan, and determines the pauses.
ExecutedPlan with_bursts(const ExecutedPlan& executed, const Timeline& predicted,
                         const ExecutionScale& scale);

}  // namespace windtunnel
