// Whether a schedule is complete and in a possible order.
#pragma once

#include "models/plan/schedule.hpp"

namespace windtunnel {

// Every unit must pass through the stages of one direction. On each, on the stage's rank, it has
// one forward, and later either one full backward or first one input gradient and then one weight
// gradient. Slices of a micro-batch ascend in forwards and descend in backwards. A stage has
// separate recompute actions for every unit or for none, between forward and backward. A forward
// `with_next` is followed by a full backward of another unit or stage. If a stage has unshard
// actions, its weights must be gathered when it runs, except for weight gradients. If gradients are
// reduced at all, all are. Throws Error that names rank and action. Does not check messages or
// deadlock: evaluate_schedule checks deadlock.
void validate_schedule(const Schedule& schedule);

}  // namespace windtunnel
