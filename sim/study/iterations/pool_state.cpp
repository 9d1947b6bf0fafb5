#include "sim/study/iterations/pool_state.hpp"

#include <algorithm>

#include "models/cost/memory/memory.hpp"
#include "models/cost/memory/tiers.hpp"
#include "models/cost/snapshot/snapshot_cost.hpp"
#include "models/plan/state_shares.hpp"
#include "models/reliability/snapshot_place.hpp"

namespace windtunnel {

PoolState state_of_all(const Job& job, const PreparedIteration& prepared) {
  std::vector<double> bytes =
      snapshot_bytes_per_gpu(job, prepared.chunks, held_stages(prepared.schedule));
  const double fullest_bytes = std::ranges::max(bytes);
  for (int pp = 0; pp < job.layout.pp; ++pp) bytes[pp] /= largest_state_factor(job, pp);
  return {-1, {fullest_bytes, saved_state(bytes, job.layout).all_bytes}};
}

std::vector<PoolState> states_by_pool(const Job& job, const PreparedIteration& prepared) {
  const PoolState all = state_of_all(job, prepared);
  if (job.cluster.pools.empty()) return {all};
  const std::vector<double> bytes =
      snapshot_bytes_per_gpu(job, prepared.chunks, held_stages(prepared.schedule));
  std::vector<PoolState> states;
  for (int pool = 0; pool < std::ssize(job.cluster.pools); ++pool) {
    double fullest_bytes = 0;
    for (int pp = 0; pp < job.layout.pp; ++pp) {
      if (ranks_by_pool(job, pp)[pool] == 0) continue;
      fullest_bytes = std::max(
          fullest_bytes, bytes[pp] * state_factor(job, pp, pool) / largest_state_factor(job, pp));
    }
    if (fullest_bytes > 0) states.push_back({pool, {fullest_bytes, all.state.all_bytes}});
  }
  return states;
}

double snapshot_node_bytes(const Job& job, const SnapshotTier& tier, MemoryTier where,
                           const PoolState& of_pool, const PoolState& of_all) {
  const PoolState& held = over_nodes(tier.code) ? of_all : of_pool;
  const auto& bytes = where == MemoryTier::disk ? snapshot_disk_bytes : snapshot_host_bytes;
  return bytes(tier, held.state.fullest_bytes, weight_share(job)) *
         job.cluster.node_of_pool(of_pool.pool).gpus;
}

double offload_node_bytes(const Job& job, const PreparedIteration& prepared, MemoryTier tier,
                          int pool) {
  const Cluster& cluster = job.cluster;
  if (cluster.pools.empty()) return tier_of_node(job, prepared.memory, tier).total();
  const int members = job.layout.ranks() / job.layout.pp;
  const auto part = tier == MemoryTier::disk ? &GpuMemory::disk : &GpuMemory::host;
  std::vector<double> of_node(cluster.nodes, 0);
  for (const ReplicaCosts& own : prepared.kinds) {
    for (int pp = 0; pp < job.layout.pp; ++pp) {
      const double bytes = (own.memory[pp].*part).total();
      for (const int member : own.members) {
        const int rank = pp * members + member;
        if (cluster.pool_of(rank) == pool) of_node[cluster.node_of(rank)] += bytes;
      }
    }
  }
  return std::ranges::max(of_node);
}

RestoreTimes restore_times(const Job& job, const SnapshotTier& tier,
                           const std::vector<PoolState>& by_pool, const PoolState& of_all) {
  RestoreTimes times;
  const auto at = [&](const PoolState& held, const auto& seconds) {
    const Job own = on_pool(job, held.pool);
    return seconds(tier, held.state, own.layout, own.cluster, own.calibration);
  };
  const bool alone = traits_of(tier).copied;
  for (const PoolState& own : by_pool) {
    times.restore_s = std::max(times.restore_s, at(alone ? own : of_all, restore_s));
    times.rebuild_s =
        std::max(times.rebuild_s, at(alone && !over_nodes(tier.code) ? own : of_all, rebuild_s));
    times.reshape_s = std::max(times.reshape_s, at(own, reshape_s));
    times.convert_s = std::max(times.convert_s, at(own, convert_s));
  }
  return times;
}

}  // namespace windtunnel
