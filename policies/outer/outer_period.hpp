// How much longer steps take because islands of replicas exchange weights
// (models/plan/sync_level.hpp), in closed form on an idle network. An exchange that takes T during
// steps of t seconds exposes max(0, T - tau t), where tau is SyncLevel::hiding_steps() (CO2: Sun et
// al. 2024, arXiv 2401.16265, section 3.1). If exchanges of several levels are due together, ranks
// wait for one after the other.
#pragma once

#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"
#include "policies/exchange/shard_transfers.hpp"

namespace windtunnel {

// Returns [level]. The exchanges overlap steps of `step_s`. `chunks`: as for OuterExchange.
std::vector<SyncSeconds> sync_seconds(const Job& job, const Schedule& schedule,
                                      const std::vector<ChunkCost>& chunks,
                                      const ReplicaNetwork& network, double step_s);

}  // namespace windtunnel
