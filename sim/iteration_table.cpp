#include "sim/iteration_table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/iteration_report.hpp"
#include "models/memory.hpp"
#include "models/restore_cost.hpp"
#include "policies/iteration_plan.hpp"
#include "policies/snapshot_tiers.hpp"
#include "sim/engine/engine.hpp"

namespace windtunnel {
namespace {

// Nodes that may be out at once before the job waits, under `shrink`: beyond them the plan would
// have to be another one.
constexpr int kMostNodesOut = 4;

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
  smaller.cluster.nodes = (gpus + job.cluster.node.gpus - 1) / job.cluster.node.gpus;
  // Which node dies is not known; a slow one is taken to stay, on the last place that is left.
  const int last = smaller.cluster.nodes - 1;
  for (SlowNode& slow : smaller.cluster.slow_nodes) slow.node = std::min(slow.node, last);
  for (DegradedNic& degraded : smaller.cluster.degraded_nics) {
    degraded.node = std::min(degraded.node, last);
  }
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
  return layout.tp * replicas % layout.ep == 0 &&
         (layout.shard_ranks == 0 || replicas % layout.shard_ranks == 0);
}

// With one node out, two, ...: a node that is a part of a replica takes the whole replica along,
// a replica those that share its experts and shards, and the next node is taken to hit another
// one. Ends where a smaller job would not fit in memory (fewer replicas share the optimizer state).
void measure_shrunk(const Job& job, const PreparedIteration& prepared, IterationTable& table) {
  const double per_node = double(job.cluster.node.gpus) * job.layout.dp / job.layout.ranks();
  for (int out = 1; out <= kMostNodesOut; ++out) {
    int missing = static_cast<int>(std::ceil(out * std::max(per_node, 1.0) - 1e-9));
    while (missing < job.layout.dp && !groups_are_whole(shrunk(job, missing).layout)) ++missing;
    if (missing >= job.layout.dp) return;
    const Job smaller = shrunk(job, missing);
    const std::vector<GpuMemory> memory = iteration_memory(smaller, prepared);
    if (!gpu_memory_excess(memory, job.cluster.node.gpu).empty()) return;
    const Execution execution = run_iteration(smaller, prepared, {});
    table.shrunk_iteration_s.push_back(iteration_s(smaller, execution.plan, execution.timeline));
    table.shrunk_progress.push_back(double(smaller.layout.dp) / job.layout.dp);
  }
}

// A campaign counts whole iterations; one of every kind must fit in it many times.
void check_length(const Job& job, const IterationTable& table) {
  constexpr double kLeastIterations = 10;
  const double longest_s = *std::ranges::max_element(table.iteration_s);
  if (job.campaign.length_s >= kLeastIterations * longest_s) return;
  throw Error(fmt::format(
      "campaign.length of {} is too short: an iteration takes up to {} here, and "
      "it should hold {} of them",
      format_seconds(job.campaign.length_s), format_seconds(longest_s), kLeastIterations));
}

}  // namespace

Execution run_iteration(const Job& job, const PreparedIteration& prepared, std::vector<int> due) {
  IterationPlanOptions options;
  options.due_snapshots = std::move(due);
  Execution execution;
  execution.plan = iteration_plan(job, prepared.schedule, prepared.chunks, prepared.units, options);
  execution.timeline =
      execute(execution.plan, job.cluster, {.fold = job.fold, .calibration = job.calibration});
  return execution;
}

double snapshot_host_bytes_per_node(const Job& job, const PreparedIteration& prepared) {
  const auto bytes = snapshot_bytes_per_gpu(job, prepared.chunks, held_stages(prepared.schedule));
  const double most = *std::ranges::max_element(bytes) * job.cluster.node.gpus;
  double total = 0;
  for (const SnapshotTier& tier : job.snapshots) {
    total += (tier.place == SnapshotPlace::host_memory ? 2 : 1) * most;
  }
  return total;
}

IterationTable iteration_table(const Job& job, const PreparedIteration& prepared,
                                  const Execution& plain) {
  IterationTable table;
  const auto bytes = snapshot_bytes_per_gpu(job, prepared.chunks, held_stages(prepared.schedule));
  const auto tiers = static_cast<unsigned>(job.snapshots.size());
  for (const SnapshotTier& tier : job.snapshots) {
    table.tiers.push_back(
        {tier, 0, restore_s(tier, bytes, job.layout, job.cluster, job.calibration)});
  }
  table.iteration_s.push_back(iteration_s(job, plain.plan, plain.timeline));
  const int at = reported_window(job, plain.plan).last;
  const double begin_s = at > 0 ? foreground_end_s(plain.plan, plain.timeline, at - 1) : 0;
  const double end_s = foreground_end_s(plain.plan, plain.timeline, at);
  for (unsigned mask = 1; mask < (1U << tiers); ++mask) {
    std::vector<int> due;
    for (unsigned i = 0; i < tiers; ++i) {
      if (mask >> i & 1U) due.push_back(static_cast<int>(i));
    }
    const Execution execution = run_iteration(job, prepared, due);
    // What came before the iteration with the snapshots is as it was without.
    const double stall_s = foreground_end_s(execution.plan, execution.timeline, at) - end_s;
    table.iteration_s.push_back(table.iteration_s.front() + stall_s);
    if (std::has_single_bit(mask)) {
      table.tiers[due.front()].complete_s =
          snapshot_end_s(execution.plan, execution.timeline) - begin_s;
    }
  }
  if (job.recovery.when_no_spare == WhenNoSpare::shrink && job.layout.dp > 1) {
    measure_shrunk(job, prepared, table);
  }
  return table;
}

std::string table_key(const Job& job) {
  return fmt::format("{}", static_cast<const void*>(&job));
}

CampaignInputs campaign_inputs(const Job& job, IterationTable table) {
  check_length(job, table);
  CampaignInputs inputs;
  const double gpus_per_node = job.cluster.node.gpus;
  inputs.nodes = job.cluster.nodes;
  inputs.same_shard = same_shard_nodes(job.layout, job.cluster);
  inputs.table = std::move(table);
  inputs.failures = job.failures;
  inputs.recovery = job.recovery;
  inputs.campaign = job.campaign;
  inputs.tokens_per_iteration = double(job.batch.global) * job.batch.sequence;
  inputs.tokens = job.tokens;
  inputs.price_usd_per_s =
      job.price_usd_per_gpu_s * gpus_per_node * (job.cluster.nodes + job.recovery.spares);
  return inputs;
}

}  // namespace windtunnel
