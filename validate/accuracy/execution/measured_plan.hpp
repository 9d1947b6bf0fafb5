// A Plan as it ran, for traces that hold tasks and not times (traces/chakra).
#pragma once

#include "models/plan/plan.hpp"
#include "models/plan/timeline.hpp"

namespace windtunnel {

// Each rank is a class of its own, and what it does by itself (all but messages and collectives)
// takes as long as it took in `measured`, which has every rank.
Plan measured_plan(const Plan& plan, const Timeline& measured);

}  // namespace windtunnel
