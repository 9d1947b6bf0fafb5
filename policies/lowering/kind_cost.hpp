// Costs of the passes of a replica on nodes of several pools: every stage has the cost on its pool.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/schedule.hpp"
#include "policies/shares/replica_kind.hpp"

namespace windtunnel {

// Returns the pool of each stage of the model; a stage on two pipeline ranks has the slower pool.
std::vector<int> pools_of_stages(const Job& job, const ReplicaKind& kind, const Schedule& schedule);
// Before a schedule exists, assumes that stages go round the pipeline ranks in a loop.
std::vector<int> pools_of_stages(const Job& job, const ReplicaKind& kind);

// Returns the costs of each stage from `of_pool(pool)`, which has [stage * slices + slice].
template <class Make>
auto costs_by_stage(const std::vector<int>& pools, const Make& of_pool) {
  auto costs = of_pool(pools.front());
  const std::size_t slices = costs.size() / pools.size();
  std::vector<int> done = {pools.front()};
  for (const int pool : pools) {
    if (std::ranges::find(done, pool) != done.end()) continue;
    done.push_back(pool);
    auto own = of_pool(pool);
    for (std::size_t stage = 0; stage < pools.size(); ++stage) {
      if (pools[stage] != pool) continue;
      for (std::size_t i = stage * slices; i < (stage + 1) * slices; ++i) {
        costs[i] = std::move(own[i]);
      }
    }
  }
  return costs;
}

// These are chunk_costs(), unit_costs() and unit_rounds() for a replica of the kind.
std::vector<ChunkCost> chunk_costs(const Job& job, const ReplicaKind& kind,
                                   const std::vector<int>& pools);
std::vector<ChunkCost> unit_costs(const Job& job, const ReplicaKind& kind, const Schedule& schedule,
                                  const std::vector<ChunkCost>& chunks);
std::vector<ChunkRounds> unit_rounds(const Job& job, const ReplicaKind& kind,
                                     const Schedule& schedule);

}  // namespace windtunnel
