#include "sim/study/iteration_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/compression/compressors.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/snapshot/restore_cost.hpp"
#include "models/cost/snapshot/snapshot_cost.hpp"
#include "models/results/iteration_report.hpp"
#include "policies/iteration.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "policies/protection/snapshot_tiers.hpp"
#include "sim/engine/engine.hpp"

namespace windtunnel {
namespace {

// Cables, sites or faults name nodes or count them: such a fabric stays whole, with nodes that
// idle.
bool has_fixed_nodes(const FabricSpec& fabric) {
  return fabric.topology == Topology::torus || fabric.topology == Topology::sites ||
         fabric.topology == Topology::graph || !fabric.faults.empty();
}

// Which node dies is not known; one that is slow or has a degraded NIC is taken to stay: of those
// behind the first `nodes`, each goes to the last place that is left.
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
  // More of them than places: the slowest counts.
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

// The job with `missing` data-parallel replicas fewer; each of the others keeps its share of work.
// Lost replicas leave holes in the pods and the others stay where they are: so pods shrink in
// proportion, and what shared a pod still does.
Job shrunk(const Job& job, int missing) {
  Job smaller = job;
  smaller.layout.dp -= missing;
  // Shards over all replicas are so however many there are.
  if (job.layout.shard_ranks == job.layout.cp * job.layout.dp) smaller.layout.shard_ranks = 0;
  smaller.batch.global = job.batch.global / job.layout.dp * smaller.layout.dp;
  const int gpus = smaller.layout.ranks();
  const int nodes = (gpus + job.cluster.node.gpus - 1) / job.cluster.node.gpus;
  keep_within(nodes, smaller.cluster);
  if (has_fixed_nodes(job.cluster.fabric)) return smaller;
  smaller.cluster.nodes = nodes;
  const double kept = double(smaller.layout.dp) / job.layout.dp;
  int& nodes_per_pod = smaller.cluster.fabric.nodes_per_pod;
  if (nodes_per_pod > 0) {
    nodes_per_pod = std::max(1, static_cast<int>(std::lround(nodes_per_pod * kept)));
  }
  return smaller;
}

// Whether whole groups of experts and whole copies of shards stand on the ranks of a stage.
bool groups_are_whole(const Layout& layout) {
  const int replicas = layout.cp * layout.dp;
  const auto divides = [](int part, int whole) { return part == 0 || whole % part == 0; };
  const int shard = shard_ranks(layout).optimizer;
  return layout.tp * replicas % layout.ep == 0 && divides(layout.shard_ranks, replicas) &&
         divides(layout.weight_ranks, shard) && divides(layout.gradient_ranks, shard) &&
         divides(layout.secondary_ranks, shard);
}

// Whether groups of its ranks are still wide enough for the longest sequence.
bool takes_lengths(const Job& job) {
  try {
    check_sequences(job);
  } catch (const Error&) {
    return false;
  }
  return true;
}

// How many replicas may be missing, ascending: whole groups share experts and shards, fewer
// replicas that share the optimizer state still fit in memory, and the longest sequence into a
// group.
std::vector<int> smaller_sizes(const Job& job, const PreparedIteration& prepared) {
  std::vector<int> sizes;
  for (int missing = 1; missing < job.layout.dp; ++missing) {
    if (groups_are_whole(shrunk(job, missing).layout)) sizes.push_back(missing);
  }
  const auto end = std::ranges::partition_point(sizes, [&](int missing) {
    const Job smaller = shrunk(job, missing);
    const std::vector<GpuMemory> memory = iteration_memory(smaller, prepared);
    return gpu_memory_excess(memory, job).empty() && takes_lengths(smaller);
  });
  sizes.erase(end, sizes.end());
  return sizes;
}

// Places among that many sizes: the first, the second, the fourth, ... and the last.
std::vector<size_t> doubling_places(size_t sizes) {
  std::vector<size_t> places = {0};
  while (places.back() + 1 < sizes) places.push_back(std::min(2 * places.back() + 1, sizes - 1));
  return places;
}

// Of these jobs the first, the middle and the last are simulated; of more than four the others have
// the closed form's time, corrected by what it misses at the simulated ones. `gap` reaches what the
// middle one would have been off without its own simulation.
std::vector<double> iterations_s(const std::vector<Job>& jobs, const PreparedIteration& prepared,
                                 int threads, double& gap) {
  std::vector<double> seconds(jobs.size());
  const auto simulate = [&](size_t i) {
    const Execution execution = run_iteration(jobs[i], prepared, {});
    seconds[i] = iteration_s(jobs[i], execution.plan, execution.timeline);
  };
  constexpr size_t kFew = 4;
  if (jobs.size() <= kFew) {
    for_each_index(jobs.size(), threads, simulate);
    return seconds;
  }
  const std::array<size_t, 3> at = {0, (jobs.size() - 1) / 2, jobs.size() - 1};
  for_each_index(at.size(), threads, [&](size_t i) { simulate(at[i]); });
  std::vector<double> closed_s(jobs.size());
  for_each_index(jobs.size(), threads,
                 [&](size_t i) { closed_s[i] = estimate_iteration(jobs[i], prepared).step_s; });
  // What a simulation adds between two simulated jobs.
  const auto factor = [&](size_t i, size_t from, size_t to) {
    return std::lerp(seconds[from] / closed_s[from], seconds[to] / closed_s[to],
                     double(i - from) / double(to - from));
  };
  gap = std::max(gap, std::abs(closed_s[at[1]] * factor(at[1], at[0], at[2]) / seconds[at[1]] - 1));
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (std::ranges::find(at, i) != at.end()) continue;
    const size_t half = i < at[1] ? 0 : 1;
    seconds[i] = closed_s[i] * factor(i, at[half], at[half + 1]);
  }
  return seconds;
}

// Iteration times of `sizes`, those at doubling_places() by iterations_s(); between them time is
// taken to be linear in the replicas that are missing.
std::vector<double> smaller_iterations_s(const Job& job, const PreparedIteration& prepared,
                                         const std::vector<int>& sizes, int threads, double& gap) {
  const std::vector<size_t> known = doubling_places(sizes.size());
  std::vector<Job> jobs;
  for (const size_t at : known) jobs.push_back(shrunk(job, sizes[at]));
  const std::vector<double> known_s = iterations_s(jobs, prepared, threads, gap);
  std::vector<double> seconds(sizes.size());
  for (size_t i = 0; i < known.size(); ++i) seconds[known[i]] = known_s[i];
  for (size_t i = 1; i < known.size(); ++i) {
    const size_t before = known[i - 1];
    const size_t at = known[i];
    for (size_t between = before + 1; between < at; ++between) {
      seconds[between] =
          std::lerp(seconds[before], seconds[at],
                    double(sizes[between] - sizes[before]) / (sizes[at] - sizes[before]));
    }
    if (at > before + 1) gap = std::max(gap, std::abs(seconds[at] / seconds[before] - 1));
  }
  return seconds;
}

// With one node out, two, ...: a replica that loses a node lends the others of its nodes to those
// that lose one after it, so that as many replicas train as nodes are left for.
void measure_shrunk(const Job& job, const PreparedIteration& prepared, int threads,
                    IterationTable& table) {
  const std::vector<int> sizes = smaller_sizes(job, prepared);
  if (sizes.empty()) return;
  const std::vector<double> seconds =
      smaller_iterations_s(job, prepared, sizes, threads, table.shrunk_gap);
  const double replicas_per_node =
      double(job.cluster.node.gpus) * job.layout.dp / job.layout.ranks();
  for (int out = 1; out < job.cluster.nodes; ++out) {
    const int missing = static_cast<int>(std::ceil(out * replicas_per_node - 1e-9));
    const auto size = std::ranges::lower_bound(sizes, missing);
    if (size == sizes.end()) return;
    table.shrunk_iteration_s.push_back(seconds[size - sizes.begin()]);
    table.shrunk_progress.push_back(double(job.layout.dp - *size) / job.layout.dp);
  }
}

// Kernels of the model's passes, and all that runs on the compute stream.
struct BusySeconds {
  double passes = 0;
  double all = 0;
};
BusySeconds busy_s(const Plan& plan, const RankTimeline& rank) {
  BusySeconds busy;
  const RankClass& owner = plan.classes[rank.rank_class];
  for (TaskIndex t = 0; t < std::ssize(owner.tasks); ++t) {
    const Task& task = owner.tasks[t];
    if (task.kind != TaskKind::compute) continue;
    const double span_s = rank.spans[t].end_s - rank.spans[t].start_s;
    busy.all += span_s;
    if (task.category != Category::optimizer) busy.passes += span_s;
  }
  return busy;
}

// With `out` nodes out, spread over the stages, the other replicas' ranks of the stage that lost
// most run its micro-batches besides their own; what fits into their idle time costs nothing
// (ReCycle, Gandhi et al., SOSP 2024, arXiv 2405.14009, sections 4.1 and 4.2). That they hold more
// activations then is not looked at.
void measure_rerouted(const Job& job, const Execution& plain, IterationTable& table) {
  const Layout& layout = job.layout;
  const double stage_ranks_per_node =
      std::max(1.0, double(job.cluster.node.gpus) / (double(layout.tp) * layout.cp));
  std::vector<BusySeconds> busy;
  for (const RankTimeline& rank : plain.timeline.ranks) busy.push_back(busy_s(plain.plan, rank));
  const double iterations = plain.plan.iterations;
  for (int out = 1; out < job.cluster.nodes; ++out) {
    const double lost = std::ceil(double(out) / layout.pp) * stage_ranks_per_node;
    if (lost >= layout.dp) return;
    double longer_s = 0;
    for (const BusySeconds& rank : busy) {
      const double extra_s = rank.passes / iterations * lost / (layout.dp - lost);
      const double idle_s = table.iteration_s.front() - rank.all / iterations;
      longer_s = std::max(longer_s, extra_s - std::max(0.0, idle_s));
    }
    table.shrunk_iteration_s.push_back(table.iteration_s.front() + longer_s);
    table.shrunk_progress.push_back(1);
  }
}

// With one group of replicas out, two, ...: the others go on as they were.
void add_groups_out(const Job& job, IterationTable& table) {
  const int groups = job.recovery.elastic.groups;
  for (int out = 1; out <= groups / 2; ++out) {
    table.shrunk_iteration_s.push_back(table.iteration_s.front());
    table.shrunk_progress.push_back(double(groups - out) / groups);
  }
}

void measure_with_nodes_out(const Job& job, const PreparedIteration& prepared,
                            const Execution& plain, int threads, IterationTable& table) {
  if (job.layout.dp == 1) return;
  if (job.recovery.elastic.groups > 0) {
    add_groups_out(job, table);
  } else if (job.recovery.when_no_spare == WhenNoSpare::shrink) {
    measure_shrunk(job, prepared, threads, table);
  } else if (job.recovery.when_no_spare == WhenNoSpare::reroute) {
    measure_rerouted(job, plain, table);
  }
}

// One node that was not slow yet becomes so; which one does not matter, as all wait for it. Where
// all are slow already, it is the first.
void slow_one_down(double slowdown, Cluster& cluster) {
  for (int node = 0; node < cluster.nodes; ++node) {
    if (std::ranges::find(cluster.slow_nodes, node, &SlowNode::node) == cluster.slow_nodes.end()) {
      cluster.slow_nodes.push_back({node, slowdown});
      return;
    }
  }
  double& first = cluster.slow_nodes.front().slowdown;
  first = std::max(first, slowdown);
}

void measure_slow(const Job& job, const PreparedIteration& prepared, IterationTable& table) {
  std::map<double, double> known;  // slowdown -> iteration
  for (const FailureClass& failure_class : job.failures) {
    table.slow_iteration_s.push_back(0);
    if (failure_class.kind != FailureKind::slow_node) continue;
    const auto [at, is_new] = known.try_emplace(failure_class.slowdown, 0);
    if (is_new) {
      Job slowed = job;
      slow_one_down(failure_class.slowdown, slowed.cluster);
      const Execution execution = run_iteration(slowed, prepared, {});
      at->second = std::max(table.iteration_s.front(),
                            iteration_s(slowed, execution.plan, execution.timeline));
    }
    table.slow_iteration_s.back() = at->second;
  }
}

bool has_interval(const SnapshotTier& tier) {
  return tier.place != SnapshotPlace::replicas;
}

// Those tiers of the set that move something.
std::vector<int> moving_tiers(const Job& job, std::size_t set) {
  std::vector<int> due;
  for (std::size_t i = 0; i < job.snapshots.size(); ++i) {
    if ((set >> i & 1U) != 0 && has_interval(job.snapshots[i])) due.push_back(static_cast<int>(i));
  }
  return due;
}

// Every set of tiers that can fall due together.
void measure_snapshots(const Job& job, const PreparedIteration& prepared, const Execution& plain,
                       int threads, IterationTable& table) {
  const int at = reported_window(job, plain.plan).last;
  const double begin_s = at > 0 ? foreground_end_s(plain.plan, plain.timeline, at - 1) : 0;
  const double end_s = foreground_end_s(plain.plan, plain.timeline, at);
  const std::size_t sets = std::size_t{1} << job.snapshots.size();
  std::vector<double> stall_s(sets, 0);
  for_each_index(sets, threads, [&](std::size_t set) {
    const std::vector<int> due = moving_tiers(job, set);
    if (set == 0 || std::ssize(due) != std::popcount(set)) return;
    const Execution execution = run_iteration(job, prepared, due);
    // What came before the iteration with the snapshots is as it was without.
    stall_s[set] = foreground_end_s(execution.plan, execution.timeline, at) - end_s;
    if (std::has_single_bit(set)) {
      table.tiers[due.front()].complete_s =
          snapshot_end_s(execution.plan, execution.timeline) - begin_s;
    }
  });
  for (std::size_t set = 1; set < sets; ++set) {
    std::size_t moving = 0;
    for (const int tier : moving_tiers(job, set)) moving |= std::size_t{1} << tier;
    table.iteration_s.push_back(table.iteration_s.front() + stall_s[moving]);
  }
}

// TierTiming::storage_s; `bytes` per GPU, by pipeline rank.
double storage_s(const Job& job, const SnapshotTier& tier, const std::vector<double>& bytes) {
  if (tier.place != SnapshotPlace::storage) return 0;
  double written = 0;
  for (const double state : bytes) {
    written += snapshot_bytes(tier, state, weight_share(job)).written;
  }
  const double gpus_per_stage = double(job.layout.tp) * job.layout.cp * job.layout.dp;
  return written * gpus_per_stage /
         (job.cluster.storage.write_Bps.value * job.calibration.storage_efficiency.value);
}

// The intervals of the job, which is not the one that the table was made for where they differ.
void set_intervals(const Job& job, IterationTable& table) {
  CHECK(job.snapshots.size() == table.tiers.size(), "a table of {} tiers for {}",
        table.tiers.size(), job.snapshots.size());
  for (std::size_t i = 0; i < table.tiers.size(); ++i) table.tiers[i].tier = job.snapshots[i];
}

// A campaign counts whole iterations; one of every kind must fit in it many times.
void check_length(const Job& job, const IterationTable& table) {
  constexpr double kLeastIterations = 10;
  const double longest_s = *std::ranges::max_element(table.iteration_s);
  if (job.campaign.length_s >= kLeastIterations * longest_s) return;
  throw Error::of_key("campaign.length",
                      "of {} is too short: an iteration takes up to {} here, and "
                      "it should hold {} of them",
                      format_seconds(job.campaign.length_s), format_seconds(longest_s),
                      kLeastIterations);
}

}  // namespace

Execution run_iteration(const Job& job, const PreparedIteration& prepared, std::vector<int> due) {
  IterationPlanOptions options;
  options.due_snapshots = std::move(due);
  Execution execution;
  execution.plan = iteration_plan(job, prepared, options);
  execution.timeline =
      execute(execution.plan, job.cluster, {.fold = job.fold, .calibration = job.calibration});
  return execution;
}

Warmup measure_warmup(const Job& job) {
  const double share = with_usual(job.communication.compressor).warmup;
  if (share == 0) return {};
  Job dense = job;
  dense.communication.compressor = {};
  const Execution execution = run_iteration(dense, prepare_iteration(dense), {});
  return {share, iteration_s(dense, execution.plan, execution.timeline)};
}

std::vector<double> snapshot_host_bytes_per_node(const Job& job,
                                                 const PreparedIteration& prepared) {
  const auto bytes = snapshot_bytes_per_gpu(job, prepared.chunks, held_stages(prepared.schedule));
  const double most = *std::ranges::max_element(bytes);
  std::vector<double> by_tier;
  for (const SnapshotTier& tier : job.snapshots) {
    by_tier.push_back(snapshot_host_bytes(tier, most, weight_share(job)) * job.cluster.node.gpus);
  }
  return by_tier;
}

IterationTable iteration_table(const Job& job, const PreparedIteration& prepared,
                               const Execution& plain, int threads) {
  check_snapshot_tiers(job.snapshots, job.layout, job.cluster);
  IterationTable table;
  const auto bytes = snapshot_bytes_per_gpu(job, prepared.chunks, held_stages(prepared.schedule));
  for (const SnapshotTier& tier : job.snapshots) {
    table.tiers.push_back(
        {.tier = tier,
         .restore_s = restore_s(tier, bytes, job.layout, job.cluster, job.calibration),
         .rebuild_s = rebuild_s(tier, bytes, job.layout, job.cluster, job.calibration),
         .storage_s = storage_s(job, tier, bytes),
         .reshape_s = reshape_s(tier, bytes, job.layout, job.cluster, job.calibration)});
  }
  table.iteration_s.push_back(iteration_s(job, plain.plan, plain.timeline));
  measure_snapshots(job, prepared, plain, threads, table);
  measure_with_nodes_out(job, prepared, plain, threads, table);
  measure_slow(job, prepared, table);
  table.warmup = measure_warmup(job);
  return table;
}

CampaignInputs campaign_inputs(const Job& job, IterationTable table) {
  check_length(job, table);
  set_intervals(job, table);
  CampaignInputs inputs;
  inputs.nodes = job.cluster.nodes;
  inputs.same_shard = same_shard_nodes(job.layout, job.cluster);
  inputs.table = std::move(table);
  inputs.failures = job.failures;
  inputs.recovery = job.recovery;
  inputs.campaign = job.campaign;
  inputs.tokens_per_iteration = tokens_per_step(job);
  inputs.tokens = job.tokens;
  inputs.price_usd_per_s = price_usd_per_s(job);
  inputs.storage_share = job.cluster.storage.share;
  return inputs;
}

}  // namespace windtunnel
