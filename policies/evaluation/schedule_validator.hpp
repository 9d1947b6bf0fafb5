// Whether a schedule says everything, once and in a possible order.
#pragma once

#include "models/plan/schedule.hpp"

namespace windtunnel {

// Every unit passes through one direction, and there every stage has one forward, then either one
// full backward or one input-gradient and after it one weight-gradient action, all on the stage's
// rank; slices of a micro-batch go up in forwards and down in backwards. A stage is recomputed in
// actions of its own for every unit or for none, between forward and backward; a forward
// `with_next` has a full backward of another unit or stage behind it. Of a stage with unshard
// actions the weights are there when it runs (weight gradients do without them); where gradients
// are reduced, all of them are. Throws Error that names rank and action. Says nothing about
// messages, nor about deadlock: evaluate_schedule does.
void validate_schedule(const Schedule& schedule);

}  // namespace windtunnel
