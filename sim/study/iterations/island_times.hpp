// Data for campaigns with islands that fail independently: the nodes of each, when they exchange,
// and how long a restarting one reads from the others, or its own snapshot.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/sync_level.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "sim/campaign/island_table.hpp"

namespace windtunnel {

// Empty if the job synchronises in every step, its groups are elastic, or every node holds a part
// of each island, so that none fails alone. Islands that share nodes count as one. `seconds`:
// measure_sync(). An island reads the state from another one, every rank from the corresponding
// rank, over the links of an exchange; this takes as long as a broadcast of the same size there.
IslandTable island_table(const Job& job, const PreparedIteration& prepared,
                         const std::vector<SyncSeconds>& seconds);

// Returns the job that one of the `islands` equal islands runs alone.
Job one_island(const Job& job, int islands);

}  // namespace windtunnel
