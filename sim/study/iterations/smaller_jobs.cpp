#include "sim/study/iterations/smaller_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "models/base/error.hpp"
#include "models/compression/robust.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/op/op_cost.hpp"
#include "models/plan/step_workers.hpp"
#include "models/reliability/stragglers/redundancy.hpp"
#include "policies/iteration.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "policies/shares/replica_kind.hpp"
#include "sim/study/iterations/memory_excess.hpp"

namespace windtunnel {
namespace {

// Whether cables, sites or faults name or count nodes. Such a fabric remains whole, and some of its
// nodes idle.
bool has_fixed_nodes(const FabricSpec& fabric) {
  return fabric.topology == Topology::torus || fabric.topology == Topology::sites ||
         fabric.topology == Topology::graph || !fabric.faults.empty() || !fabric.background.empty();
}

// It is not known which node fails. Slow nodes and nodes with a degraded NIC are assumed to remain:
// each of these beyond the first `nodes` moves to the last free place.
void keep_within(int nodes, Cluster& cluster) {
  std::map<int, int> place_of;
  for (const SlowNode& slow : cluster.slow_nodes) place_of[slow.node] = slow.node;
  for (const DegradedNic& degraded : cluster.degraded_nics) {
    place_of[degraded.node] = degraded.node;
  }
  std::set<int> taken;
  for (const auto& [node, place] : place_of) {
    if (node < nodes) taken.insert(node);
  }
  for (auto& [node, place] : place_of) {
    if (node < nodes) continue;
    place = nodes - 1;
    while (place > 0 && taken.contains(place)) --place;
    taken.insert(place);
  }
  // If several slow nodes come to share a place, the slowest counts.
  std::map<int, double> slowdown;
  for (const SlowNode& slow : cluster.slow_nodes) {
    double& at = slowdown[place_of[slow.node]];
    at = std::max(at, slow.slowdown);
  }
  cluster.slow_nodes.clear();
  for (const auto& [node, times] : slowdown) cluster.slow_nodes.push_back({node, times});
  std::map<std::pair<int, int>, double> factor;
  for (const DegradedNic& degraded : cluster.degraded_nics) {
    const std::pair place(place_of[degraded.node], degraded.nic);
    const auto [at, is_new] = factor.try_emplace(place, degraded.factor);
    at->second = std::min(at->second, degraded.factor);
  }
  cluster.degraded_nics.clear();
  for (const auto& [at, share] : factor) {
    cluster.degraded_nics.push_back({at.first, at.second, share});
  }
}

// Returns the nodes that are slow or have a degraded NIC.
std::set<int> marked_nodes(const Cluster& cluster) {
  std::set<int> marked;
  for (const SlowNode& slow : cluster.slow_nodes) marked.insert(slow.node);
  for (const DegradedNic& degraded : cluster.degraded_nics) marked.insert(degraded.node);
  return marked;
}

// Returns the places of the replicas `kept`. A slow node, or one with a degraded NIC, that would
// leave replaces another node of its pool, starting from the last.
std::vector<int> places_left(const Job& job, const Job& smaller, const std::vector<int>& kept,
                             int nodes) {
  const Cluster& cluster = job.cluster;
  std::vector<int> places;
  std::set<int> left;
  for (int gpu = 0; gpu < smaller.layout.ranks(); ++gpu) {
    RankCoordinates at = coordinates_of(smaller.layout, smaller.cluster.ranks.rank_on(gpu));
    at.dp = kept[at.dp];
    const int before = rank_of(job.layout, at);
    const int place = cluster.place_of(cluster.node_of(before));
    if (std::ssize(places) < nodes && left.insert(place).second) places.push_back(place);
  }
  const std::set<int> marked = marked_nodes(cluster);
  for (int node = 0; node < cluster.nodes; ++node) {
    const int place = cluster.place_of(node);
    if (!marked.contains(place) || left.contains(place)) continue;
    const auto last = std::find_if(places.rbegin(), places.rend(), [&](int other) {
      return !marked.contains(other) &&
             cluster.pool_of_place(other) == cluster.pool_of_place(place);
    });
    if (last != places.rend()) *last = place;
  }
  return places;
}

// Divides `count` in proportion to these amounts. Shares are rounded up, and the last amount gets
// what is left.
std::vector<int> in_proportion(const std::vector<int>& amounts, int count) {
  const int all = std::accumulate(amounts.begin(), amounts.end(), 0);
  std::vector<int> stay;
  int rest = count;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    const std::int64_t share = (std::int64_t{count} * amounts[i] + all - 1) / all;
    const bool last = i + 1 == amounts.size();
    stay.push_back(last ? rest : std::min(rest, static_cast<int>(share)));
    rest -= stay.back();
  }
  return stay;
}

// Returns the pools of a machine, the slowest first.
std::vector<int> slowest_first(const Job& job) {
  std::vector<int> pools(job.cluster.pools.size());
  std::iota(pools.begin(), pools.end(), 0);
  std::ranges::stable_sort(pools,
                           [&](int a, int b) { return a != b && slower_pool(job, b, a) == a; });
  return pools;
}

// Returns the replicas that remain if `missing` leave. It is not known which ones fail: on unlike
// nodes each kind keeps its share, rounded in favour of slower kinds. If a kind does not fill whole
// nodes, the first replicas remain.
std::vector<int> kept_replicas(const Job& job, int missing) {
  const int count = job.layout.dp - missing;
  std::vector<int> kept(count);
  std::iota(kept.begin(), kept.end(), 0);
  const std::vector<ReplicaKind> kinds = replica_kinds(job);
  if (kinds.size() == 1) return kept;
  // Replicas that share a node leave together.
  const int unit = ranks_of_node(job).replicas;
  std::vector<std::size_t> order(kinds.size());
  std::iota(order.begin(), order.end(), 0);
  const std::vector<int> pools = slowest_first(job);
  std::ranges::stable_sort(order, {}, [&](std::size_t kind) {
    return std::ranges::find_first_of(pools, kinds[kind].pools) - pools.begin();
  });
  std::vector<int> amounts;
  for (const std::size_t kind : order) amounts.push_back(kinds[kind].replicas / unit);
  if (std::accumulate(amounts.begin(), amounts.end(), 0) * unit != job.layout.dp) return kept;
  const std::vector<int> stay = in_proportion(amounts, (count + unit - 1) / unit);
  kept.clear();
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const auto place = std::ranges::find(order, kind) - order.begin();
    for (int i = 0; i < stay[place] * unit; ++i) kept.push_back(kinds[kind].first + i);
  }
  kept.resize(count);
  return kept;
}

// Returns places that remain: each pool keeps its share of nodes, rounded as in kept_replicas().
std::vector<int> kept_places(const Job& job, int nodes) {
  const Cluster& cluster = job.cluster;
  const std::set<int> marked = marked_nodes(cluster);
  const std::vector<int> pools = slowest_first(job);
  std::vector<std::vector<int>> of_pool(pools.size());
  for (const bool slow : {true, false}) {
    for (int node = 0; node < cluster.nodes; ++node) {
      const int place = cluster.place_of(node);
      if (marked.contains(place) != slow) continue;
      const auto pool = std::ranges::find(pools, cluster.pool_of_place(place)) - pools.begin();
      of_pool[pool].push_back(place);
    }
  }
  std::vector<int> amounts;
  for (const std::vector<int>& own : of_pool) amounts.push_back(static_cast<int>(own.size()));
  const std::vector<int> stay = in_proportion(amounts, nodes);
  std::vector<int> kept;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    kept.insert(kept.end(), of_pool[i].begin(), of_pool[i].begin() + stay[i]);
  }
  std::ranges::sort(kept);
  return kept;
}

// Whether whole groups of experts and whole copies of shards stand on the ranks of a stage.
bool groups_are_whole(const Layout& layout) {
  const int replicas = layout.cp * layout.dp;
  const auto divides = [](int part, int whole) { return part == 0 || whole % part == 0; };
  const int shard = shard_ranks(layout).optimizer;
  return layout.tp * replicas % layout.ep == 0 && divides(layout.shard_ranks, replicas) &&
         divides(layout.weight_ranks, shard) && divides(layout.gradient_ranks, shard) &&
         divides(layout.secondary_ranks, shard) &&
         divides(layout.expert_shard_ranks, layout.tp * replicas / layout.ep);
}

// Whether the job's groups of ranks are still wide enough for the longest sequence.
bool takes_lengths(const Job& job) {
  try {
    check_sequences(job);
  } catch (const Error&) {
    return false;
  }
  return true;
}

// Returns positions among that many sizes: the first, second, fourth, ... and the last.
std::vector<size_t> doubling_places(size_t sizes) {
  if (sizes == 0) return {};
  std::vector<size_t> places = {0};
  while (places.back() + 1 < sizes) places.push_back(std::min(2 * places.back() + 1, sizes - 1));
  return places;
}

// Whether shrunk() leaves pods of exactly the size that is in proportion.
bool keeps_pods(const Job& job, int missing) {
  const std::int64_t pod = job.cluster.fabric.nodes_per_pod;
  if (!job.cluster.is_whole() || has_fixed_nodes(job.cluster.fabric) || pod >= job.cluster.nodes) {
    return true;
  }
  return pod * (job.layout.dp - missing) % job.layout.dp == 0;
}

// Simulated iteration time over that of the closed form, for a number of missing replicas.
struct Correction {
  int missing = 0;
  double factor = 1;
};

// Returns the factor: linear between the known sizes (ascending), constant beyond the last.
double correction_at(int missing, const std::vector<Correction>& known) {
  const auto next = std::ranges::upper_bound(known, missing, {},
                                             [](const Correction& one) { return one.missing; });
  if (next == known.end()) return known.back().factor;
  const auto before = std::prev(next);
  return std::lerp(before->factor, next->factor,
                   double(missing - before->missing) / (next->missing - before->missing));
}

// Returns how far corrected closed forms may be off: as far as each known size except the whole job
// would have been without its own simulation.
double correction_error(const std::vector<Correction>& known) {
  double error = 0;
  for (size_t i = 1; i < known.size(); ++i) {
    std::vector<Correction> others = known;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    error =
        std::max(error, std::abs(correction_at(known[i].missing, others) / known[i].factor - 1));
  }
  return error;
}

}  // namespace

NodeRanks ranks_of_node(const Job& job) {
  const Layout& layout = job.layout;
  const int gpus = job.cluster.node.gpus;
  if (job.cluster.ranks.in_order()) {
    const double of_stage = std::max(1.0, gpus / (double(layout.tp) * layout.cp));
    return {.replicas = static_cast<int>(of_stage), .of_stage = of_stage};
  }
  NodeRanks most;
  for (int node = 0; node < job.cluster.nodes; ++node) {
    std::map<int, std::set<int>> of_stage;
    std::set<int> replicas;
    for (int slot = 0; slot < gpus; ++slot) {
      const int rank = job.cluster.rank_on(node, slot);
      if (rank >= layout.ranks()) continue;
      const RankCoordinates at = coordinates_of(layout, rank);
      of_stage[at.pp].insert(at.dp);
      replicas.insert(at.dp);
    }
    most.stages = std::max(most.stages, static_cast<int>(of_stage.size()));
    most.replicas = std::max(most.replicas, static_cast<int>(replicas.size()));
    for (const auto& [stage, own] : of_stage) {
      most.of_stage = std::max(most.of_stage, static_cast<double>(own.size()));
    }
  }
  return most;
}

void keep_shards_whole(const Layout& layout, Layout& smaller) {
  for (int Layout::*ranks :
       {&Layout::shard_ranks, &Layout::weight_ranks, &Layout::gradient_ranks}) {
    if (layout.*ranks == layout.cp * layout.dp) smaller.*ranks = 0;  // 0: all replicas
  }
}

Cluster with_nodes(const Job& job, int nodes) {
  Cluster cluster = job.cluster;
  if (!cluster.pools.empty()) {
    cluster.places = kept_places(job, nodes);
    cluster.machine_nodes = cluster.fabric_nodes();
    cluster.nodes = nodes;
    return cluster;
  }
  keep_within(nodes, cluster);
  if (!has_fixed_nodes(cluster.fabric)) cluster.nodes = nodes;
  return cluster;
}

Job shrunk(const Job& job, int missing) {
  return with_replicas(job, kept_replicas(job, missing));
}

Job with_replicas(const Job& job, const std::vector<int>& kept) {
  Job smaller = job;
  smaller.layout.dp = static_cast<int>(kept.size());
  keep_shards_whole(job.layout, smaller.layout);
  smaller.batch.global = job.batch.global / job.layout.dp * smaller.layout.dp;
  const int gpus = smaller.layout.ranks();
  const int nodes = (gpus + job.cluster.node.gpus - 1) / job.cluster.node.gpus;
  smaller.cluster.ranks = rank_map(smaller.layout);
  if (!job.cluster.is_whole()) {
    smaller.cluster.places = places_left(job, smaller, kept, nodes);
    smaller.cluster.machine_nodes = job.cluster.fabric_nodes();
    smaller.cluster.nodes = nodes;
    return smaller;
  }
  smaller.cluster = with_nodes(job, nodes);
  smaller.cluster.ranks = rank_map(smaller.layout);
  if (has_fixed_nodes(job.cluster.fabric)) return smaller;
  const double share = double(smaller.layout.dp) / job.layout.dp;
  int& nodes_per_pod = smaller.cluster.fabric.nodes_per_pod;
  if (nodes_per_pod > 0 && nodes_per_pod < job.cluster.nodes) {
    nodes_per_pod = std::max(1, static_cast<int>(std::lround(nodes_per_pod * share)));
  }
  return smaller;
}

std::string why_no_stand_ins(const Job& job) {
  std::string why;
  if (job.redundancy) why = why_not(*job.redundancy, step_workers(job.layout));
  if (why.empty() && job.communication.robust) {
    why = why_not(*job.communication.robust, job.layout.island_dp());
  }
  return why;
}

namespace {

// Prepares a job with fewer replicas than the prepared one. On unlike nodes the replicas divide its
// layers and its batch anew; throws Error if they cannot.
PreparedIteration prepared_smaller(const Job& smaller, const PreparedIteration& prepared) {
  if (!prepared.kinds.empty()) return prepare_checked(smaller);
  PreparedIteration own = prepared;
  own.memory = iteration_memory(smaller, own);
  return own;
}

std::string excess_of(const Job& smaller, const PreparedIteration& prepared) {
  return memory_excess(smaller, prepared_smaller(smaller, prepared));
}

// Returns why unlike replicas cannot divide the batch; empty: they can.
std::string why_no_shares(const Job& smaller) {
  if (smaller.batch.shares == BatchShares::even) return {};
  try {
    prepare_checked(smaller);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

std::vector<int> smaller_sizes(const Job& job, const PreparedIteration& prepared) {
  std::vector<int> sizes;
  for (int missing = 1; missing < job.layout.dp; ++missing) {
    const Job smaller = shrunk(job, missing);
    if (groups_are_whole(smaller.layout) && why_no_stand_ins(smaller).empty() &&
        why_no_shares(smaller).empty()) {
      sizes.push_back(missing);
    }
  }
  const auto end = std::ranges::partition_point(sizes, [&](int missing) {
    const Job smaller = shrunk(job, missing);
    return excess_of(smaller, prepared).empty() && takes_lengths(smaller);
  });
  sizes.erase(end, sizes.end());
  return sizes;
}

std::string why_no_smaller(const Job& job, const PreparedIteration& prepared) {
  const double per_node = double(job.cluster.node.gpus) * job.layout.dp / job.layout.ranks();
  const int least = static_cast<int>(std::ceil(per_node - 1e-9));
  const std::vector<int> sizes = smaller_sizes(job, prepared);
  if (!sizes.empty() && sizes.back() >= least) return {};
  if (least >= job.layout.dp) return "no replica is left if one node is missing";
  for (int missing = least; missing < job.layout.dp; ++missing) {
    const Job smaller = shrunk(job, missing);
    if (!groups_are_whole(smaller.layout)) continue;
    const std::string why = why_no_stand_ins(smaller);
    if (!why.empty()) return why;
    if (const std::string shares = why_no_shares(smaller); !shares.empty()) return shares;
    const std::string excess = excess_of(smaller, prepared);
    if (!excess.empty()) return excess;
    return "the longest sequence does not fit on the remaining nodes";
  }
  return "fewer replicas would not contain whole groups of experts and shards (layout.ep, "
         "shard_ranks)";
}

// Simulates all sizes if there are few. Otherwise simulates the smallest job, and among sizes with
// keeps_pods() the one nearest to half the replicas, because unequal pods leave many more different
// ranks and take many times as long to simulate.
std::vector<int> sizes_to_simulate(const Job& job, const std::vector<int>& sizes) {
  constexpr size_t kFew = 4;
  std::vector<int> looked_at;
  for (const size_t place : doubling_places(sizes.size())) looked_at.push_back(sizes[place]);
  if (looked_at.size() <= kFew) return looked_at;
  const int last = looked_at.back();
  std::erase_if(looked_at,
                [&](int missing) { return missing == last || !keeps_pods(job, missing); });
  if (looked_at.empty()) return {last};
  return {*std::ranges::min_element(
              looked_at, {}, [&](int missing) { return std::abs(2 * missing - job.layout.dp); }),
          last};
}

SmallerIterations smaller_iterations(const Job& job, const PreparedIteration& prepared,
                                     const std::vector<int>& sizes,
                                     const std::map<int, double>& simulated_s, int threads) {
  CHECK(sizes.empty() || simulated_s.size() == 1 || simulated_s.contains(sizes.back()),
        "the smallest job is not simulated");
  SmallerIterations result;
  std::vector<int> looked_at = {0};
  for (const size_t place : doubling_places(sizes.size())) looked_at.push_back(sizes[place]);
  std::map<int, double> known_s = simulated_s;
  if (known_s.size() < looked_at.size()) {
    std::vector<double> closed_s(looked_at.size());
    for_each_index(looked_at.size(), threads, [&](size_t i) {
      const Job smaller = shrunk(job, looked_at[i]);
      const bool unlike = !prepared.kinds.empty() && looked_at[i] > 0;
      closed_s[i] =
          estimate_iteration(smaller, unlike ? prepare_checked(smaller) : prepared).step_s;
    });
    std::vector<Correction> known;
    for (size_t i = 0; i < looked_at.size(); ++i) {
      const auto simulated = simulated_s.find(looked_at[i]);
      if (simulated == simulated_s.end()) continue;
      known.push_back({looked_at[i], simulated->second / closed_s[i]});
    }
    result.gap = correction_error(known);
    for (size_t i = 0; i < looked_at.size(); ++i) {
      known_s.try_emplace(looked_at[i], closed_s[i] * correction_at(looked_at[i], known));
    }
  }
  for (const int missing : sizes) {
    const auto next = known_s.lower_bound(missing);
    if (next->first == missing) {
      result.seconds.push_back(next->second);
      continue;
    }
    const auto before = std::prev(next);
    result.seconds.push_back(
        std::lerp(before->second, next->second,
                  double(missing - before->first) / (next->first - before->first)));
    result.gap = std::max(result.gap, std::abs(next->second / before->second - 1));
  }
  return result;
}

}  // namespace windtunnel
