// How much longer steps take because islands of replicas exchange what they have learnt
// (models/plan/sync_level.hpp), in closed form on an idle network: of an exchange that takes T
// beside steps of t seconds, max(0, T - tau t) is waited for, tau its SyncLevel::hiding_steps()
// (CO2: Sun et al. 2024, arXiv 2401.16265, section 3.1). Exchanges of several levels that fall due
// together are waited for one after the other.
#pragma once

#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"
#include "policies/exchange/shard_transfers.hpp"

namespace windtunnel {

// [level] Beside steps of `step_s`. `chunks`: as OuterExchange takes them.
std::vector<SyncSeconds> sync_seconds(const Job& job, const Schedule& schedule,
                                      const std::vector<ChunkCost>& chunks,
                                      const ReplicaNetwork& network, double step_s);

}  // namespace windtunnel
