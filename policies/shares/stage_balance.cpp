#include "policies/shares/stage_balance.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <utility>

#include "models/base/error.hpp"
#include "models/plan/pipeline_stages.hpp"
#include "policies/schedules/schedules.hpp"
#include "policies/shares/replica_kind.hpp"

namespace windtunnel {

double pass_s(const ChunkCost& chunk) {
  return total_seconds(chunk.forward) + total_seconds(chunk.backward_input) +
         total_seconds(chunk.backward_weight) + total_seconds(chunk.recompute);
}

namespace {

// Times that parts of the model take forwards and backwards together.
struct PartTimes {
  double layer_s = 0;                    // of any layer; the mean if layers form a pattern
  std::map<Block, double> of_kind = {};  // of each kind of layer in a pattern
  double embedding_s = 0;
  double head_s = 0;
};

PartTimes times_with_equal_layers(Job job) {
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

char letter_of(Block block) {
  return std::ranges::find(kBlockLetters, block, &BlockLetter::block)->letter;
}

PartTimes part_times(const Job& job) {
  PartTimes times = times_with_equal_layers(job);
  if (job.model.pattern.empty()) return times;
  for (const Block block : kLayerBlocks) {
    if (job.model.layers_of(block) == 0) continue;
    Job alike = job;
    alike.model.pattern.assign(1, letter_of(block));
    times.of_kind[block] = times_with_equal_layers(alike).layer_s;
  }
  return times;
}

PartTimes slower(const PartTimes& a, const PartTimes& b) {
  PartTimes times = {std::max(a.layer_s, b.layer_s), a.of_kind,
                     std::max(a.embedding_s, b.embedding_s), std::max(a.head_s, b.head_s)};
  for (const auto& [block, seconds] : b.of_kind) {
    times.of_kind[block] = std::max(times.of_kind[block], seconds);
  }
  return times;
}

// Returns the times on each pipeline rank.
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

// Returns the number of layers of each stage if no stage may take longer than `limit_s`. Earlier
// stages take as many as they can. Empty if layers are left over.
std::vector<int> stages_within(const Job& job, const std::vector<PartTimes>& times,
                               double limit_s) {
  const int stages = job.layout.stages();
  std::vector<int> layers(stages, 0);
  int layer = 0;
  for (int stage = 0; stage < stages; ++stage) {
    const PartTimes& of = times[stage % job.layout.pp];
    double busy_s = (stage == 0 ? of.embedding_s : 0) + (stage + 1 == stages ? of.head_s : 0);
    for (; layer < job.model.layers; ++layer, ++layers[stage]) {
      busy_s += of.of_kind.at(job.model.block_of(layer));
      if (busy_s > limit_s) break;
    }
  }
  return layer == job.model.layers ? layers : std::vector<int>{};
}

// Returns the pipeline rank of each stage in the job's schedule. If the schedule does not exist for
// so few micro-batches, stages go round the ranks in a loop.
std::vector<int> ranks_of_stages(const Job& job) {
  const int ranks = job.layout.pp;
  if (job.schedule.imported) return job.schedule.imported->rank_of_stage;
  try {
    return schedule_kind(job.schedule)
        .generate({.ranks = ranks, .microbatches = 2 * ranks, .chunks = job.layout.vpp})
        .rank_of_stage;
  } catch (const Error&) {
    return looped_ranks(job.layout);
  }
}

// How long ranks are busy if stages have given layers.
struct BusyTimes {
  double rank_s = 0;   // time of the busiest rank over all its stages
  double squares = 0;  // sum over ranks of their squared times: a measure of imbalance
  auto operator<=>(const BusyTimes&) const = default;
};

BusyTimes busy_times(const Job& job, const std::vector<PartTimes>& times,
                     const std::vector<int>& ranks, const std::vector<int>& layers) {
  std::vector<double> of_rank(job.layout.pp, 0);
  of_rank[ranks.front()] += times[ranks.front()].embedding_s;
  of_rank[ranks.back()] += times[ranks.back()].head_s;
  int layer = 0;
  for (std::size_t stage = 0; stage < layers.size(); ++stage) {
    const int rank = ranks[stage];
    for (int i = 0; i < layers[stage]; ++i) {
      of_rank[rank] += times[rank].of_kind.at(job.model.block_of(layer++));
    }
  }
  BusyTimes busy;
  for (const double seconds : of_rank) {
    busy.rank_s = std::max(busy.rank_s, seconds);
    busy.squares += seconds * seconds;
  }
  return busy;
}

// Moves layers to neighbouring stages as long as that evens the ranks: if ranks hold several
// stages, equal stages do not make ranks equal.
std::vector<int> with_even_ranks(const Job& job, const std::vector<PartTimes>& times,
                                 const std::vector<int>& ranks, std::vector<int> layers) {
  BusyTimes best = busy_times(job, times, ranks, layers);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t stage = 0; stage + 1 < layers.size(); ++stage) {
      for (const int passed : {1, -1}) {
        std::vector<int> other = layers;
        other[stage] -= passed;
        other[stage + 1] += passed;
        if (other[stage] < 0 || other[stage + 1] < 0) continue;
        const BusyTimes busy = busy_times(job, times, ranks, other);
        if (!(busy < best)) continue;  // NaN must not count as better, or the loop would not end
        best = busy;
        layers = std::move(other);
        moved = true;
      }
    }
  }
  return layers;
}

std::vector<int> even_stages(const Job& job) {
  std::vector<int> layers(job.layout.stages());
  for (int stage = 0; stage < job.layout.stages(); ++stage) {
    const auto until = [&](int s) { return s * job.model.layers / job.layout.stages(); };
    layers[stage] = until(stage + 1) - until(stage);
  }
  return layers;
}

// Layers of a pattern stay in their order, and each stage takes consecutive ones. Finds the least
// time limit within which all layers have a place, by bisection.
std::vector<int> balanced_pattern(const Job& job, const std::vector<PartTimes>& times) {
  double high_s = 0;
  for (const PartTimes& of : times) {
    double all_s = of.embedding_s + of.head_s;
    for (int layer = 0; layer < job.model.layers; ++layer) {
      all_s += of.of_kind.at(job.model.block_of(layer));
    }
    high_s = std::max(high_s, all_s);
  }
  double low_s = 0;
  constexpr int kHalvings = 40;
  for (int i = 0; i < kHalvings; ++i) {
    const double limit_s = (low_s + high_s) / 2;
    (stages_within(job, times, limit_s).empty() ? low_s : high_s) = limit_s;
  }
  std::vector<int> layers = stages_within(job, times, high_s);
  if (job.layout.vpp == 1) return layers;
  const std::vector<int> ranks = ranks_of_stages(job);
  layers = with_even_ranks(job, times, ranks, std::move(layers));
  std::vector<int> from_even = with_even_ranks(job, times, ranks, even_stages(job));
  const bool even_is_better =
      busy_times(job, times, ranks, from_even) < busy_times(job, times, ranks, layers);
  return even_is_better ? from_even : layers;
}

}  // namespace

std::vector<int> balanced_stages(const Job& job) {
  const int ranks = job.layout.pp;
  const std::vector<PartTimes> times = times_of_ranks(job);
  if (!job.model.pattern.empty()) return balanced_pattern(job, times);
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
  return layers_of_stages(job.layout, of_rank);
}

}  // namespace windtunnel
