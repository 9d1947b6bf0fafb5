// What campaigns need to know of islands that fail independently: the nodes of each, when they
// exchange, and how long a restarting island reads from others or from its own snapshot.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/sync_level.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "sim/campaign/island_table.hpp"

namespace windtunnel {

// Empty if no island can fail alone: the job synchronises in every step, its groups are elastic, or
// every node holds a part of each island. Islands that share nodes count as one. `seconds`:
// measure_sync(). An island reads the state from another one, every rank from the corresponding
// rank, over the links of an exchange. This takes as long as a broadcast of the same size there.
IslandTable island_table(const Job& job, const PreparedIteration& prepared,
                         const std::vector<SyncSeconds>& seconds);

// Returns the job that one of the `islands` equal islands runs alone.
Job one_island(const Job& job, int islands);

}  // namespace windtunnel
