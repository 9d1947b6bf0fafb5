// Executions of several scenarios against what was predicted of them before: how far steps and
// kinds of tasks are off, whether intervals hold what happened, whether the order is right.
#pragma once

#include <span>
#include <vector>

#include "validate/accuracy/execution/executed_plan.hpp"
#include "validate/accuracy/execution/execution_comparison.hpp"

namespace windtunnel {

// ---- What this machine adds to a plan that it executes: threads wake late, frames pass a kernel.
// It is measured on a plan of its own, of equal waits, messages and rounds, with as many ranks and
// at the same scale as the one that is to be predicted; nothing is fitted to what is judged.

// Real seconds, of each.
struct MachineOverheads {
  double wait_s = 0;     // a task that only takes time
  double send_s = 0;     // a send, whose thread wakes late
  double arrival_s = 0;  // a message, from the end of its send to the end of its receive
  double round_s = 0;    // a step of a collective
};

// The middle of several runs.
MachineOverheads measured_overheads(const ExecutedPlan& like, const ExecutionScale& scale,
                                    int runs);

// The plan with them: each task longer by its own. A receive has no time of its own (plan.hpp):
// what waits for it takes longer.
ExecutedPlan with_overheads(const ExecutedPlan& executed, const MachineOverheads& overheads,
                            const ExecutionScale& scale);

// The plan that is measured, of the same ranks on the same machine: waits, then messages between
// pairs (of two nodes, where messages of the plan go from node to node), then sums round a ring of
// all.
ExecutedPlan overhead_probe(const ExecutedPlan& like, const ExecutionScale& scale);

// ---- The judgement.

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

// Gives steps and kinds of task intervals by how far the predictions of the other scenarios were
// off (add_left_out_intervals()).
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

// What the ports of a testbed let pass at once behind a pause
// (validate/harness/execute/testbed.hpp), taken off what is simulated. A bucket of b bytes fills at
// the rate r of its port: of m bytes that are sent after a pause of p only m - min(b, r p) take
// time.

// The plan with messages and collectives that are shorter by that; as it is where it does not run
// on a testbed. `predicted`: of the plan as it is, which tells the pauses.
ExecutedPlan with_bursts(const ExecutedPlan& executed, const Timeline& predicted,
                         const ExecutionScale& scale);

}  // namespace windtunnel
