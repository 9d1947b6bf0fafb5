// A Plan with the times of its execution, for trace formats that contain tasks without times
// (traces/chakra).
#pragma once

#include "models/plan/plan.hpp"
#include "models/plan/timeline.hpp"

namespace windtunnel {

// Each rank becomes a class of its own. Tasks other than messages and collectives take their time
// in `measured`, which must have every rank.
Plan measured_plan(const Plan& plan, const Timeline& measured);

}  // namespace windtunnel
