// Joins the task lists of ranks to a Plan: classes of equal ranks, groups by their names, and what
// all must agree on. Ranks of a job that no file is of run as the first captured one does, in
// groups that lie among the others' as its own do (group_tiles()).
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
  std::vector<std::string> scenario = {};  // as it was exported; empty: not known
  int captured = 0;                        // ranks with a trace of their own
  std::int64_t absent_deps = 0;            // RankTrace::absent_deps of all
  std::int64_t untimed = 0;                // the same
};

// Called with the number of ranks before those without a trace are filled in: throws where the
// machine has no room for them.
using RanksCheck = std::function<void(int ranks)>;

// One rank after the other, nothing behind the last. Ranks that send one another different sizes in
// an all-to-all or gather send the largest. Throws Error that names the file or the rank.
RankPlan plan_of_ranks(const std::function<std::optional<RankTrace>()>& next,
                       const RanksCheck& check_ranks = {});

// Groups that lie among the ranks of a job as a known one does: what the ranks of other columns of
// a mesh call their group. [0, 2] of 8 ranks goes with [1, 3], [4, 6] and [5, 7].

// Shifts of `members` that cover the ranks once each, members itself among them; empty where there
// are none.
std::vector<std::vector<RankId>> group_tiles(const std::vector<RankId>& members, int ranks);

}  // namespace windtunnel
