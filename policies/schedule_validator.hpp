// Whether a schedule says everything, once and in a possible order.
#pragma once

#include "models/schedule.hpp"

namespace windtunnel {

// Every unit passes through one replica, and there every stage has one forward, then either one
// full backward or one input-gradient and after it one weight-gradient action, all on the stage's
// rank; slices go up in forwards and down in backwards; an explicit recomputation lies between
// forward and backward; a forward `with_next` has a full backward behind it. Throws Error that
// names rank and action. Says nothing about deadlock: evaluate_schedule does.
void validate_schedule(const Schedule& schedule);

}  // namespace windtunnel
