#include "sim/study/tier_reports.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/base/units.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/snapshot/snapshot_cost.hpp"
#include "models/reliability/code_survival.hpp"
#include "models/reliability/failure_traits.hpp"
#include "policies/protection/snapshot_tiers.hpp"
#include "sim/campaign/pace.hpp"
#include "sim/study/iterations/iteration_table.hpp"
#include "sim/study/iterations/pool_state.hpp"

namespace windtunnel {
namespace {

constexpr double kSurvivalTime_s = 7 * 86400.0;

// Returns the probability that one failure, which may take several nodes, takes more nodes of a
// group than the tier tolerates.
double beyond_at_once(const TierProtection& protection, const FailureClass& failure_class,
                      int nodes) {
  if (failure_class.batch_shares.empty()) return protection.tolerated == 0 ? 1 : 0;
  double beyond = 0;
  for (std::size_t i = 0; i < failure_class.batch_shares.size(); ++i) {
    const int lost = std::min(nodes, static_cast<int>(i) + 1);
    double survives = 0;
    if (failure_class.batch_adjacent) {
      std::vector<int> taken(lost);
      for (int first = 0; first + lost <= nodes; ++first) {
        std::iota(taken.begin(), taken.end(), first);
        survives += survives_nodes(protection, taken) ? 1.0 / (nodes - lost + 1) : 0;
      }
    } else {
      survives = survival_after_losses(nodes, protection.groups.size, protection.tolerated, lost);
    }
    beyond += failure_class.batch_shares[i] * (1 - survives);
  }
  return beyond;
}

// Returns the probability that the group of a lost node loses more nodes than the tier tolerates
// before it is whole again, if each other is lost meanwhile with probability `loss`: the mean over
// nodes.
double beyond_in_turn(const TierProtection& protection, double loss) {
  if (protection.tolerated == 0) return 0;  // beyond_at_once() counts these losses
  const NodeGroups& groups = protection.groups;
  double beyond = 0;
  for (int group = 0; group < groups.groups(); ++group) {
    const int members = groups.members_of(group);
    beyond += members * group_loss(members - 1, protection.tolerated - 1, loss) / groups.nodes;
  }
  return beyond;
}

// Returns the probability that the tier survives all failures within kSurvivalTime_s. A lost node
// is replaced and its content saved anew, so only losses in its group within `open_s` of the first
// one add up. Failures are exponential. Copies of a node that stays out are also elsewhere.
double survival(const TierProtection& protection, const CampaignInputs& inputs, double open_s) {
  if (protection.everything) return 1;
  double nodes_per_s = 0;
  double beyond_per_s = 0;
  for (const FailureClass& failure_class : inputs.failures) {
    const double rate = mean_rate_per_s(failure_class, inputs.nodes, inputs.campaign.length_s);
    // A planned stop takes a snapshot (tier_for_planned_stop()), and a bad copy ends no trainer.
    if (!traits_of(failure_class.kind).unexpected) continue;
    if (!survives_end(protection, failure_class)) {
      beyond_per_s += rate;
    } else if (failure_class.kind == FailureKind::node && protection.node) {
      nodes_per_s += rate * mean_batch(failure_class);
      beyond_per_s += rate * beyond_at_once(protection, failure_class, inputs.nodes);
    }
  }
  if (nodes_per_s > 0) {
    const double loss = 1 - node_survival(open_s, inputs.nodes / nodes_per_s, 1);
    beyond_per_s += nodes_per_s * beyond_in_turn(protection, loss);
  }
  return std::exp(-beyond_per_s * kSurvivalTime_s);
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
    if (const Cadence& cadence = pace.cadence(static_cast<int>(i)); cadence.is_running()) {
      report.every_s = cadence.training_s(table.iteration_s[0], report.stall_s) + report.stall_s;
    }
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
    const double open_s = job.recovery.detect_s + job.recovery.restart_s + report.restore_s +
                          report.every_s + report.saving_s;
    report.survival_7d =
        survival(protection_of(timing.tier, inputs.nodes, inputs.same_shard), inputs, open_s);
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace windtunnel
