#include "sim/study/iterations/memory_excess.hpp"

#include <utility>
#include <vector>

#include "models/cost/memory/memory.hpp"
#include "models/cost/offload/offload.hpp"
#include "sim/study/iterations/pool_state.hpp"

namespace windtunnel {

std::string memory_excess(const Job& job, const PreparedIteration& prepared) {
  std::string gpu = gpu_memory_excess(prepared.memory, job);
  if (!gpu.empty()) return gpu;
  const PoolState of_all = state_of_all(job, prepared);
  for (const PoolState& own : states_by_pool(job, prepared)) {
    std::vector<std::pair<std::string, double>> by_use;
    for (const SnapshotTier& tier : job.snapshots) {
      const double bytes = snapshot_host_bytes(job, tier, own, of_all);
      if (bytes > 0) by_use.emplace_back(tier_name(tier), bytes);
    }
    if (offload_of(job).any()) {
      const double bytes = host_memory_of_node(job, prepared.memory).total();
      if (bytes > 0) by_use.emplace_back(kOffloadUse, bytes);
    }
    const std::string pool = own.pool < 0 ? "" : job.cluster.pools[own.pool].name;
    std::string host = host_memory_excess(by_use, job.cluster.node_of_pool(own.pool), pool);
    if (!host.empty()) return host;
  }
  return {};
}

}  // namespace windtunnel
