// What a campaign has to know of islands that fail on their own: which nodes each stands on, when
// they exchange, and how long one that begins again reads from the others, or what it saved itself.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/sync_level.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "sim/campaign/island_table.hpp"

namespace windtunnel {

// No islands where the job synchronises in every step, its groups are elastic, or a node holds a
// part of each island, so that none fails alone. Islands that share nodes count as one.
// `seconds`: measure_sync(). An island reads the state from one other, every rank from that of
// equal place, over the links of an exchange: as long as a broadcast of as much takes there.
IslandTable island_table(const Job& job, const PreparedIteration& prepared,
                         const std::vector<SyncSeconds>& seconds);

// The job of one island alone, out of `islands`.
Job one_island(const Job& job, int islands);

}  // namespace windtunnel
