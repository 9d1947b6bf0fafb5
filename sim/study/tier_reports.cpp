#include "sim/study/tier_reports.hpp"

#include <algorithm>
#include <cmath>

#include "models/base/units.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/snapshot/snapshot_cost.hpp"
#include "models/reliability/code_survival.hpp"
#include "policies/protection/snapshot_tiers.hpp"
#include "sim/campaign/pace.hpp"
#include "sim/study/iterations/iteration_table.hpp"
#include "sim/study/iterations/pool_state.hpp"

namespace windtunnel {
namespace {

constexpr double kSurvivalTime_s = 7 * 86400.0;

// That no group loses more nodes in the time than the tier stands, and nothing else befalls that it
// does not survive; exponential failures, none repaired, independent nodes: those of a batch, too.
double survival(const TierProtection& protection, const CampaignInputs& inputs) {
  if (protection.everything) return 1;
  double nodes_per_s = 0;
  double beyond_per_s = 0;
  for (const FailureClass& failure_class : inputs.failures) {
    const double rate = mean_rate_per_s(failure_class, inputs.nodes, inputs.campaign.length_s);
    if (failure_class.kind == FailureKind::node) {
      nodes_per_s += rate * mean_batch(failure_class);
    }
    // Snapshots before planned stops are taken for them (tier_for_planned_stop()); a bad copy ends
    // nobody.
    if (failure_class.kind == FailureKind::planned ||
        failure_class.kind == FailureKind::corrupt_snapshot) {
      continue;
    }
    if (!survives_end(protection, failure_class)) beyond_per_s += rate;
  }
  double survival = std::exp(-beyond_per_s * kSurvivalTime_s);
  if (!protection.node || nodes_per_s == 0) return survival;
  const double loss = 1 - node_survival(kSurvivalTime_s, inputs.nodes / nodes_per_s, 1);
  // Nodes that are left over make the last group of each place larger.
  const NodeGroups& groups = protection.groups;
  const int regular = groups.groups() - groups.stride;
  if (regular > 0) survival *= job_survival(regular, groups.size, protection.tolerated, loss);
  for (int group = regular; group < groups.groups(); ++group) {
    survival *= group_survival(groups.members_of(group), protection.tolerated, loss);
  }
  return survival;
}

// As campaigns run it: a copy that takes longer than its period skips some.
double mean_every_s(const Cadence& cadence, double plain_s, double stall_s) {
  if (cadence.is_timed()) {
    return std::ceil(std::max(cadence.every_s - stall_s, 0.0) / plain_s) * plain_s + stall_s;
  }
  if (cadence.every_iterations == 0) return 0;
  return static_cast<double>(cadence.every_iterations) * plain_s + stall_s;
}

}  // namespace

std::vector<TierReport> tier_reports(const Job& job, const PreparedIteration& prepared,
                                     const CampaignInputs& ruled_inputs,
                                     const CampaignReport& made) {
  const CampaignInputs inputs = with_ruled_intervals(ruled_inputs, made);
  const auto bytes = snapshot_bytes_per_gpu(job, prepared.chunks, held_stages(prepared.schedule));
  const double most = *std::ranges::max_element(bytes);
  const PoolState of_all = state_of_all(job, prepared);
  const std::vector<PoolState> by_pool = states_by_pool(job, prepared);
  const IterationTable& table = inputs.table;
  const Pace pace(table, table.iteration_s[0], std::vector<int>(table.tiers.size(), 1));
  std::vector<TierReport> reports;
  for (std::size_t i = 0; i < table.tiers.size(); ++i) {
    const TierTiming& timing = table.tiers[i];
    const SnapshotBytes moved = snapshot_bytes(timing.tier, most, weight_share(job));
    TierReport report;
    report.name = tier_name(timing.tier);
    report.stall_s = std::max(0.0, table.iteration_s[1U << i] - table.iteration_s[0]);
    report.every_s =
        mean_every_s(pace.cadence(static_cast<int>(i)), table.iteration_s[0], report.stall_s);
    report.saving_s = timing.complete_s;
    report.overhead = report.every_s > 0 ? report.stall_s / report.every_s : 0;
    report.restore_s = timing.restore_s;
    report.rebuild_s = timing.rebuild_s;
    report.moved_bytes = moved.moved;
    report.wire_bytes = moved.wire;
    for (const PoolState& own : by_pool) {
      report.host_bytes = std::max(
          report.host_bytes, snapshot_node_bytes(job, timing.tier, MemoryTier::host, own, of_all));
    }
    report.survival_7d =
        survival(protection_of(timing.tier, inputs.nodes, inputs.same_shard), inputs);
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace windtunnel
