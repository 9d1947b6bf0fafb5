#include "sim/campaign/campaign.hpp"

#include <cmath>

#include "models/base/error.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "sim/campaign/reduction.hpp"
#include "sim/campaign/trial.hpp"

namespace windtunnel {
namespace {

void check_table(const IterationTable& table, const std::vector<FailureClass>& failures) {
  CHECK(table.iteration_s.size() == std::size_t{1} << table.tiers.size(),
        "{} iteration times for {} tiers", table.iteration_s.size(), table.tiers.size());
  for (const double duration_s : table.iteration_s) {
    CHECK(std::isfinite(duration_s) && duration_s > 0, "an iteration takes {} s", duration_s);
  }
  for (const auto& [tier, complete_s, restore_s, rebuild_s, reshape_s] : table.tiers) {
    const int cadences =
        (tier.every_iterations > 0) + (tier.every_s > 0) + (tier.every_overhead > 0);
    CHECK(cadences == (tier.place == SnapshotPlace::replicas ? 0 : 1),
          "{} every {} iterations, {} s and for {} of the time", tier_name(tier),
          tier.every_iterations, tier.every_s, tier.every_overhead);
    CHECK(is_duration(complete_s) && is_duration(restore_s) && is_duration(rebuild_s) &&
              is_duration(reshape_s),
          "a tier completes in {} s, restores in {} s, rebuilds in {} s, converts in {} s",
          complete_s, restore_s, rebuild_s, reshape_s);
  }
  CHECK(table.shrunk_iteration_s.size() == table.shrunk_progress.size(),
        "{} shrunk times, {} shares", table.shrunk_iteration_s.size(),
        table.shrunk_progress.size());
  for (const double duration_s : table.shrunk_iteration_s) {
    CHECK(std::isfinite(duration_s) && duration_s > 0, "a shrunk iteration takes {} s", duration_s);
  }
  for (std::size_t i = 0; i < failures.size(); ++i) {
    if (failures[i].kind != FailureKind::slow_node) continue;
    CHECK(i < table.slow_iteration_s.size() && std::isfinite(table.slow_iteration_s[i]) &&
              table.slow_iteration_s[i] > 0,
          "no time of an iteration with a slow node of class {}", failures[i].name);
  }
}

void require(bool holds, const char* key, const char* what) {
  if (!holds) throw Error::of_key(key, "{}", what);
}

void check_recovery(const RecoveryPolicy& recovery, int nodes) {
  require(recovery.spares >= 0, "recovery.spares", "must be 0 or more");
  require(recovery.hot_spares >= 0 && recovery.hot_spares <= recovery.spares, "recovery.hot_spares",
          "must be 0 or more and no more than recovery.spares");
  require(is_duration(recovery.detect_s) && is_duration(recovery.restart_s), "recovery.detect",
          "and recovery.restart must be 0 or more");
  require(is_duration(recovery.provision_s) && is_duration(recovery.manual_s), "recovery.provision",
          "and recovery.manual must be 0 or more");
  require(recovery.success > 0 && recovery.success <= 1, "recovery.success",
          "must be more than 0 and at most 1: the share of restarts that work");
  // Restarts that take no time and never work would not end.
  require(recovery.success >= 0.001 || recovery.restart_s > 0, "recovery.restart",
          "must be more than 0 where recovery.success is below 0.001");
  require(recovery.repair_slots >= 0, "recovery.repair_slots", "must be 0 (no limit) or more");
  require(recovery.evict_after >= 0 && is_duration(recovery.evict_within_s), "recovery.evict_after",
          "and recovery.evict_within must be 0 or more");
  const auto is_hour = [](double hour) { return hour >= 0 && hour <= 24; };
  require(is_hour(recovery.attended.from_h) && is_hour(recovery.attended.to_h), "recovery.attended",
          "takes hours of the day, from 0 to 24");
  require(is_duration(recovery.steady_overhead), "recovery.steady_overhead", "must be 0 or more");
  const ElasticGroups& elastic = recovery.elastic;
  require(elastic.groups >= 0 && elastic.groups != 1 && elastic.groups <= nodes,
          "recovery.elastic.groups", "must be 0 (not elastic), or from 2 to the number of nodes");
  require(is_duration(elastic.stall_s) && is_duration(elastic.rejoin_s) &&
              is_duration(elastic.rejoin_stall_s),
          "recovery.elastic", ": its times must be 0 or more");
}

void check_inputs(const CampaignInputs& inputs) {
  CHECK(inputs.nodes > 0, "{} nodes", inputs.nodes);
  require(inputs.campaign.length_s > 0 && std::isfinite(inputs.campaign.length_s),
          "campaign.length", "must be more than 0");
  require(inputs.campaign.trials >= 1, "campaign.replicas", "must be 1 or more");
  check_recovery(inputs.recovery, inputs.nodes);
  for (const FailureClass& failure_class : inputs.failures) check_failure_class(failure_class);
  std::vector<SnapshotTier> tiers;
  for (const TierTiming& timing : inputs.table.tiers) tiers.push_back(timing.tier);
  check_snapshot_tiers(tiers, inputs.failures);
  check_table(inputs.table, inputs.failures);
}

}  // namespace

TrialResult run_trial(const CampaignInputs& inputs, int trial, CampaignMode mode,
                      std::vector<CampaignEvent>* events) {
  check_inputs(inputs);
  const CampaignPlan plan(inputs);
  return Trial(plan, trial, mode, events).run();
}

CampaignReport run_campaign(const CampaignInputs& inputs, int threads) {
  check_inputs(inputs);
  const CampaignPlan plan(inputs);
  std::vector<TrialResult> results(inputs.campaign.trials);
  for_each_index(results.size(), threads, [&](std::size_t index) {
    results[index] = Trial(plan, static_cast<int>(index), CampaignMode::fast_forward).run();
  });
  return reduce(inputs, results);
}

}  // namespace windtunnel
