#include "sim/study/iterations/memory_excess.hpp"

#include <utility>
#include <vector>

#include "models/cost/memory/tiers.hpp"
#include "sim/study/iterations/pool_state.hpp"

namespace windtunnel {
namespace {

// Returns name and bytes per node of everything that occupies a tier.
std::vector<std::pair<std::string, double>> uses_of(const Job& job,
                                                    const PreparedIteration& prepared,
                                                    MemoryTier tier, const PoolState& own,
                                                    const PoolState& of_all) {
  std::vector<std::pair<std::string, double>> by_use;
  for (const SnapshotTier& snapshot : job.snapshots) {
    const double bytes = snapshot_node_bytes(job, snapshot, tier, own, of_all);
    if (bytes > 0) by_use.emplace_back(tier_name(snapshot), bytes);
  }
  if (offload_of(job).any()) {
    const double bytes = offload_node_bytes(job, prepared, tier, own.pool);
    if (bytes > 0) by_use.emplace_back(kOffloadUse, bytes);
  }
  return by_use;
}

}  // namespace

std::string memory_excess(const Job& job, const PreparedIteration& prepared) {
  std::string gpu = gpu_memory_excess(prepared.memory, job);
  if (!gpu.empty()) return gpu;
  const PoolState of_all = state_of_all(job, prepared);
  for (const PoolState& own : states_by_pool(job, prepared)) {
    const std::string pool = own.pool < 0 ? "" : job.cluster.pools[own.pool].name;
    for (const MemoryTier tier : kTiersBesideGpu) {
      std::string excess = tier_excess(tier, uses_of(job, prepared, tier, own, of_all),
                                       job.cluster.node_of_pool(own.pool), pool);
      if (!excess.empty()) return excess;
    }
  }
  return {};
}

}  // namespace windtunnel
