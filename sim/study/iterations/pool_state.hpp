// Computes snapshot data on each kind of a job's nodes, and the restore time of the slowest kind.
#pragma once

#include <vector>

#include "models/cost/offload/offload.hpp"
#include "models/cost/snapshot/restore_cost.hpp"
#include "models/plan/job.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

struct PoolState {
  int pool = -1;     // -1: all nodes
  SavedState state;  // of the pool's fullest GPU
};

// Returns an entry for each pool that the job uses, or one for all nodes.
std::vector<PoolState> states_by_pool(const Job& job, const PreparedIteration& prepared);
// Returns the state of the fullest GPU of all nodes, whichever pool it is in.
PoolState state_of_all(const Job& job, const PreparedIteration& prepared);

// Returns the host memory or drive space (`where`) that a snapshot tier takes on a node of the
// pool. A code over several nodes has blocks of equal size.
double snapshot_node_bytes(const Job& job, const SnapshotTier& tier, MemoryTier where,
                           const PoolState& of_pool, const PoolState& of_all);

// Returns bytes that Job::offload puts into a tier of the pool's fullest node; -1: all are alike.
double offload_node_bytes(const Job& job, const PreparedIteration& prepared, MemoryTier tier,
                          int pool);

// TierTiming explains these times. Each pool reads its own data. If nodes of several pools must
// replace lost data, the worst pool determines each time.
struct RestoreTimes {
  double restore_s = 0;
  double rebuild_s = 0;
  double reshape_s = 0;
  double convert_s = 0;
};
RestoreTimes restore_times(const Job& job, const SnapshotTier& tier,
                           const std::vector<PoolState>& by_pool, const PoolState& of_all);

}  // namespace windtunnel
