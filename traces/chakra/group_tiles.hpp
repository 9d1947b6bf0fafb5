// Groups that lie among the ranks of a job as a known one does: what the ranks of other columns of
// a mesh call their group. [0, 2] of 8 ranks goes with [1, 3], [4, 6] and [5, 7].
#pragma once

#include <vector>

#include "models/plan/plan.hpp"

namespace windtunnel {

// Shifts of `members` that cover the ranks once each, members itself among them; empty where there
// are none.
std::vector<std::vector<RankId>> group_tiles(const std::vector<RankId>& members, int ranks);

}  // namespace windtunnel
