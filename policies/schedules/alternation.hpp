// One forward, one backward in turn: what 1F1B and its descendants have in common.
#pragma once

#include <vector>

#include "models/plan/schedule.hpp"

namespace windtunnel {

// `warm_up` forwards, then one forward and one backward in turn while there are forwards, then the
// rest of the backwards; in the orders given.
void append_alternating(const std::vector<Action>& forwards, const std::vector<Action>& backwards,
                        int warm_up, std::vector<Action>& actions);

// All units of a stage in ascending order.
std::vector<Action> actions_of(ActionKind kind, int stage, int units);

}  // namespace windtunnel
