#include "policies/lowering/kind_cost.hpp"

#include "policies/lowering/unit_cost.hpp"

namespace windtunnel {

std::vector<int> pools_of_stages(const Job& job, const ReplicaKind& kind,
                                 const Schedule& schedule) {
  std::vector<int> pools(schedule.model_stages(), -1);
  for (int stage = 0; stage < schedule.stages(); ++stage) {
    int& pool = pools[schedule.model_stage(stage)];
    pool = slower_pool(job, pool, kind.pools[schedule.rank_of_stage[stage]]);
  }
  return pools;
}

std::vector<int> pools_of_stages(const Job& job, const ReplicaKind& kind) {
  std::vector<int> pools(job.layout.stages());
  for (int stage = 0; stage < job.layout.stages(); ++stage) {
    pools[stage] = kind.pools[stage % job.layout.pp];
  }
  return pools;
}

std::vector<ChunkCost> chunk_costs(const Job& job, const ReplicaKind& kind,
                                   const std::vector<int>& pools) {
  return costs_by_stage(pools, [&](int pool) { return chunk_costs(job_of_kind(job, kind, pool)); });
}

std::vector<ChunkCost> unit_costs(const Job& job, const ReplicaKind& kind, const Schedule& schedule,
                                  const std::vector<ChunkCost>& chunks) {
  return costs_by_stage(pools_of_stages(job, kind, schedule), [&](int pool) {
    return unit_costs(job_of_kind(job, kind, pool), schedule, chunks);
  });
}

std::vector<ChunkRounds> unit_rounds(const Job& job, const ReplicaKind& kind,
                                     const Schedule& schedule) {
  return costs_by_stage(pools_of_stages(job, kind, schedule), [&](int pool) {
    return unit_rounds(job_of_kind(job, kind, pool), schedule);
  });
}

}  // namespace windtunnel
