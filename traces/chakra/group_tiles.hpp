// Finds the groups of other ranks from a known one, by shifting it: on a mesh, ranks of other
// columns have such groups. For [0, 2] among 8 ranks these are [1, 3], [4, 6] and [5, 7].
#pragma once

#include <vector>

#include "models/plan/plan.hpp"

namespace windtunnel {

// Shifts of `members` that together cover each rank once, including members itself; empty if there
// are none.
std::vector<std::vector<RankId>> group_tiles(const std::vector<RankId>& members, int ranks);

}  // namespace windtunnel
