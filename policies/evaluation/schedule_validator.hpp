// Checks that a schedule is complete and its order possible.
// Every unit passes through the stages of one direction. On each, on the stage's rank, it has one
// forward, and later either one full backward or first one input gradient and then one weight
// gradient. Slices of a micro-batch ascend in forwards and descend in backwards. A stage has
// separate recompute actions for every unit or for none, between forward and backward. A forward
// `with_next` is followed by a full backward of another unit or stage. If a stage has unshard
// actions, its weights must be gathered when it runs, except for weight gradients. If gradients are
// reduced at all, all are. Throws Error that names rank and action. Messages and deadlock are not
// checked: evaluate_schedule checks for deadlock.
#pragma once

#include "models/plan/schedule.hpp"

namespace windtunnel {

// Every unit must pass through one direction, where every stage has one forward, and after it
// either one full backward, or one input gradient and then one weight gradient, all on the stage's
// rank. Slices of a micro-batch ascend in forwards and descend in backwards. A stage has separate
// recompute actions for every unit or for none, between forward and backward. A forward `with_next`
// is followed by a full backward of another unit or stage. If a stage has unshard actions, its
// weights must be gathered when it runs (not for weight gradients); if gradients are reduced, all
// are. Throws Error that names rank and action. Does not check messages or deadlock:
// evaluate_schedule does.
void validate_schedule(const Schedule& schedule);

}  // namespace windtunnel
