// What snapshots hold on each kind of a job's nodes, and how long the slowest kind takes to have it
// back.
#pragma once

#include <vector>

#include "models/cost/offload/offload.hpp"
#include "models/cost/snapshot/restore_cost.hpp"
#include "models/plan/job.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

struct PoolState {
  int pool = -1;     // of unlike nodes; -1: of all nodes
  SavedState state;  // of its GPUs the fullest
};

// One for each pool that the job stands on, or one for all.
std::vector<PoolState> states_by_pool(const Job& job, const PreparedIteration& prepared);
// Of all nodes, as the worst of them.
PoolState state_of_all(const Job& job, const PreparedIteration& prepared);

// What a tier of snapshots takes per node of the pool, of host memory or of drives: `where`. A code
// over several nodes has blocks of one size.
double snapshot_node_bytes(const Job& job, const SnapshotTier& tier, MemoryTier where,
                           const PoolState& of_pool, const PoolState& of_all);

// What Job::offload lays into a tier of the fullest node, of those of the pool; -1: all are alike.
double offload_node_bytes(const Job& job, const PreparedIteration& prepared, MemoryTier tier,
                          int pool);

// TierTiming's; each pool reads its own, and where nodes of several must give what others lost,
// they are as the worst of all in every respect.
struct RestoreTimes {
  double restore_s = 0;
  double rebuild_s = 0;
  double reshape_s = 0;
  double convert_s = 0;
};
RestoreTimes restore_times(const Job& job, const SnapshotTier& tier,
                           const std::vector<PoolState>& by_pool, const PoolState& of_all);

}  // namespace windtunnel
