// What campaigns (sim/campaign) say of a drill beforehand: which tier will serve, from which
// iteration, and how long it takes; or that nothing is left.
#pragma once

#include "tests/validate/harness/drill/drill.hpp"

namespace windtunnel {

// Its `restore_s` is that of the tier that serves.
DrillOutcome foreseen(const Drill& drill);

}  // namespace windtunnel
