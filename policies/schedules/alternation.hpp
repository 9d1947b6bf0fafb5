// What 1F1B and its descendants have in common: forwards and backwards that alternate.
#pragma once

#include <vector>

#include "models/plan/schedule.hpp"

namespace windtunnel {

// Appends `warm_up` forwards, then a forward and a backward alternately while there are forwards,
// then the remaining backwards. The two lists keep their orders.
void append_alternating(const std::vector<Action>& forwards, const std::vector<Action>& backwards,
                        int warm_up, std::vector<Action>& actions);

// Returns all units of a stage in ascending order.
std::vector<Action> actions_of(ActionKind kind, int stage, int units);

}  // namespace windtunnel
