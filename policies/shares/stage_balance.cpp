#include "policies/shares/stage_balance.hpp"

#include <algorithm>
#include <map>

#include "policies/shares/replica_kind.hpp"

namespace windtunnel {

double pass_s(const ChunkCost& chunk) {
  return total_seconds(chunk.forward) + total_seconds(chunk.backward_input) +
         total_seconds(chunk.backward_weight) + total_seconds(chunk.recompute);
}

namespace {

// Of a pass through the model and back.
struct PartTimes {
  double layer_s = 0;
  double embedding_s = 0;
  double head_s = 0;
};

PartTimes part_times(Job job) {
  const int layers = job.model.layers;
  std::vector<int>& of_stage = job.layout.stage_layers;
  of_stage.assign(job.layout.stages(), 0);
  of_stage.front() = layers;
  const double with_layers_s = pass_s(chunk_costs(job).front());
  std::swap(of_stage.front(), of_stage.back());
  const std::vector<ChunkCost> behind = chunk_costs(job);
  PartTimes times;
  times.embedding_s = pass_s(behind.front());
  times.layer_s = (with_layers_s - times.embedding_s) / layers;
  times.head_s = pass_s(behind.back()) - layers * times.layer_s;
  return times;
}

PartTimes slower(const PartTimes& a, const PartTimes& b) {
  return {std::max(a.layer_s, b.layer_s), std::max(a.embedding_s, b.embedding_s),
          std::max(a.head_s, b.head_s)};
}

// [pipeline rank]
std::vector<PartTimes> times_of_ranks(const Job& job) {
  const std::vector<ReplicaKind> kinds = replica_kinds(job);
  if (job.cluster.pools.empty()) return std::vector(job.layout.pp, part_times(job));
  std::vector<PartTimes> of_rank(job.layout.pp);
  for (const ReplicaKind& kind : kinds) {
    std::map<int, PartTimes> of_pool;
    for (std::size_t rank = 0; rank < of_rank.size(); ++rank) {
      const int pool = kind.pools[rank];
      const auto [known, is_new] = of_pool.try_emplace(pool);
      if (is_new) known->second = part_times(job_of_kind(job, kind, pool));
      of_rank[rank] = slower(of_rank[rank], known->second);
    }
  }
  return of_rank;
}

}  // namespace

std::vector<int> balanced_stages(const Job& job) {
  const int ranks = job.layout.pp;
  const std::vector<PartTimes> times = times_of_ranks(job);
  std::vector<double> busy_s(ranks, 0);
  busy_s.front() += times.front().embedding_s;
  busy_s.back() += times.back().head_s;
  std::vector<int> of_rank(ranks, 0);
  for (int layer = 0; layer < job.model.layers; ++layer) {
    int best = 0;
    for (int rank = 1; rank < ranks; ++rank) {
      if (busy_s[rank] + times[rank].layer_s < busy_s[best] + times[best].layer_s) best = rank;
    }
    busy_s[best] += times[best].layer_s;
    ++of_rank[best];
  }
  // The chunks of a rank share its layers, the first ones one more where they do not divide.
  std::vector<int> layers(job.layout.stages());
  for (int stage = 0; stage < job.layout.stages(); ++stage) {
    const int chunk = stage / ranks;
    const int all = of_rank[stage % ranks];
    layers[stage] = all / job.layout.vpp + (chunk < all % job.layout.vpp ? 1 : 0);
  }
  return layers;
}

}  // namespace windtunnel
