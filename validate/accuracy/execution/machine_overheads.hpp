// What this machine adds to a plan that it executes: threads wake late, frames pass a kernel. It is
// measured on a plan of its own, of equal waits, messages and rounds, with as many ranks and at the
// same scale as the one that is to be predicted; nothing is fitted to what is judged.
#pragma once

#include <vector>

#include "validate/accuracy/execution/executed_plan.hpp"

namespace windtunnel {

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

}  // namespace windtunnel
