// Joins the task lists of ranks to a Plan: classes of equal ranks, groups by name, and properties
// on which all ranks must agree. Ranks without a file run like the first captured one, in groups
// shifted from its groups (group_tiles()).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/plan/plan.hpp"
#include "traces/chakra/rank_trace.hpp"

namespace windtunnel {

struct RankPlan {
  Plan plan;                               // satisfies validate_plan
  bool foreign = false;                    // no rank has our attributes
  std::vector<std::string> scenario = {};  // as exported; empty: not known
  int captured = 0;              // ranks with a trace of their own; the others run like the first
  std::int64_t absent_deps = 0;  // sum of RankTrace::absent_deps
  std::int64_t untimed = 0;      // sum of RankTrace::untimed
};

// Called with the number of ranks before ranks without a trace are added; throws if the machine has
// too few GPUs.
using RanksCheck = std::function<void(int ranks)>;

// `next` returns one rank after the other, then nothing. If ranks send one another different sizes
// in an all-to-all or gather, all get the largest. Throws Error that names the file or the rank.
RankPlan plan_of_ranks(const std::function<std::optional<RankTrace>()>& next,
                       const RanksCheck& check_ranks = {});

// Returns shifted copies of `members` that together cover each rank once, including `members`
// itself; empty if there are none. On a device mesh, the groups of other ranks are such copies: for
// [0, 2] among 8 ranks they are [1, 3], [4, 6] and [5, 7].
std::vector<std::vector<RankId>> group_tiles(const std::vector<RankId>& members, int ranks);

}  // namespace windtunnel
