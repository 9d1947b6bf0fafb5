// Campaigns (sim/campaign) predict a drill: which tier will serve, from which iteration, and how
// long it takes, or that no copy is left.
#pragma once

#include "tests/validate/harness/drill/drill.hpp"

namespace windtunnel {

// `restore_s` is the time of the tier that serves.
DrillOutcome foreseen(const Drill& drill);

}  // namespace windtunnel
