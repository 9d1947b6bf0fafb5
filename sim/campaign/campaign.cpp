#include "sim/campaign/campaign.hpp"

#include <cmath>

#include "models/base/error.hpp"
#include "models/reliability/saving_interval.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "sim/campaign/island_trial.hpp"
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
  for (const auto& [tier, complete_s, restore_s, rebuild_s, storage_s, startup, reshape_s,
                    convert_s] : table.tiers) {
    check_interval(tier);
    CHECK(is_duration(complete_s) && is_duration(restore_s) && is_duration(rebuild_s) &&
              is_duration(storage_s) && is_duration(startup.alone_s) &&
              is_duration(startup.storm_s) && is_duration(reshape_s) && is_duration(convert_s),
          "a tier completes in {} s, restores in {} s, rebuilds in {} s, stores in {} s, converts "
          "in {} or {} s",
          complete_s, restore_s, rebuild_s, storage_s, reshape_s, convert_s);
  }
  CHECK(table.shrunk_iteration_s.size() == table.shrunk_progress.size(),
        "{} shrunk times, {} shares", table.shrunk_iteration_s.size(),
        table.shrunk_progress.size());
  for (const double duration_s : table.shrunk_iteration_s) {
    CHECK(std::isfinite(duration_s) && duration_s > 0, "a shrunk iteration takes {} s", duration_s);
  }
  CHECK(table.shrunk_layout.size() <= table.shrunk_iteration_s.size(),
        "{} shrunk layouts, {} times", table.shrunk_layout.size(), table.shrunk_iteration_s.size());
  for (const int layout : table.shrunk_layout) {
    CHECK(layout >= 0 && layout <= std::ssize(table.relaid), "shrunk layout {} of {}", layout,
          table.relaid.size());
  }
  for (std::size_t i = 0; i < failures.size(); ++i) {
    if (failures[i].kind != FailureKind::slow_node) continue;
    CHECK(i < table.slow_iteration_s.size() && std::isfinite(table.slow_iteration_s[i]) &&
              table.slow_iteration_s[i] > 0,
          "no time of an iteration with a slow node of class {}", failures[i].name);
  }
}

// Checks ranges of single keys. check_recovery() checks combinations.
void check_ranges(const RecoveryPolicy& recovery) {
  CHECK(recovery.spares >= 0 && recovery.hot_spares >= 0 && recovery.repair_slots >= 0 &&
            recovery.evict_after >= 0,
        "{} spares, {} of them hot, {} repair slots, eviction after {} failures", recovery.spares,
        recovery.hot_spares, recovery.repair_slots, recovery.evict_after);
  for (const double seconds :
       {recovery.detect_s, recovery.restart_s, recovery.provision_s, recovery.manual_s,
        recovery.evict_within_s, recovery.elastic.stall_s, recovery.elastic.rejoin_s,
        recovery.elastic.rejoin_stall_s, recovery.steady_overhead}) {
    CHECK(is_duration(seconds), "a part of the recovery takes {} s", seconds);
  }
  CHECK(recovery.success > 0 && recovery.success <= 1, "{} of the restarts work", recovery.success);
  const auto is_hour = [](double hour) { return hour >= 0 && hour <= 24; };
  CHECK(is_hour(recovery.attended.from_h) && is_hour(recovery.attended.to_h),
        "somebody is there from {} to {} o'clock", recovery.attended.from_h,
        recovery.attended.to_h);
  CHECK(recovery.elastic.groups >= 0 && recovery.elastic.groups != 1, "{} elastic groups",
        recovery.elastic.groups);
}

void check_islands(const CampaignInputs& inputs) {
  const IslandTable& islands = inputs.table.islands;
  if (!islands.has_islands()) return;
  for (const TierTiming& timing : inputs.table.tiers) {
    CHECK(timing.tier.own == nullptr, "islands save by steps, not by a rule");
  }
  CHECK(std::ssize(islands.of_node) == inputs.nodes, "islands of {} nodes, not {}",
        islands.of_node.size(), inputs.nodes);
  for (const double pace : islands.smaller_pace) {
    CHECK(std::isfinite(pace) && pace >= 1, "a smaller island takes {} times as long", pace);
  }
  CHECK(islands.far_modules >= 0 &&
            (islands.far_modules == 0 || islands.count % islands.far_modules == 0),
        "{} islands, {} modules of the second half", islands.count, islands.far_modules);
  for (const IslandLevel& level : islands.levels) {
    CHECK(level.cycle_steps >= 1 && level.delay_steps >= 0 && level.missing >= 0 &&
              level.missing < level.members && is_duration(level.exchange_s) &&
              is_duration(level.stream_s),
          "an exchange every {} steps, {} later, without {} of {}, for {} s, streams {} s",
          level.cycle_steps, level.delay_steps, level.missing, level.members, level.exchange_s,
          level.stream_s);
  }
}

void check_inputs(const CampaignInputs& inputs) {
  CHECK(inputs.nodes > 0, "{} nodes", inputs.nodes);
  CHECK(inputs.campaign.length_s > 0 && std::isfinite(inputs.campaign.length_s) &&
            inputs.campaign.trials >= 1,
        "{} campaigns of {} s", inputs.campaign.trials, inputs.campaign.length_s);
  check_ranges(inputs.recovery);
  check_recovery(inputs.recovery, inputs.nodes);
  for (const FailureClass& failure_class : inputs.failures) check_failure_class(failure_class);
  std::vector<SnapshotTier> tiers;
  for (const TierTiming& timing : inputs.table.tiers) tiers.push_back(timing.tier);
  check_snapshot_tiers(tiers, inputs.failures);
  check_table(inputs.table, inputs.failures);
  check_islands(inputs);
}

}  // namespace

CampaignInputs with_ruled_intervals(CampaignInputs inputs, const CampaignReport& report) {
  for (std::size_t i = 0; i < inputs.table.tiers.size(); ++i) {
    SnapshotTier& tier = inputs.table.tiers[i].tier;
    if (tier.own != nullptr) save_every_seconds(tier, report.ruled_every_s.at(i));
  }
  return inputs;
}

CampaignInputs to_choose_by(CampaignInputs inputs) {
  constexpr int kFirst = 1 << 30;  // more trials than any campaign has
  inputs.first_trial = kFirst;
  return inputs;
}

TrialResult run_trial(const CampaignInputs& inputs, int trial, CampaignMode mode,
                      std::vector<CampaignEvent>* events) {
  check_inputs(inputs);
  if (inputs.table.islands.has_islands()) {
    const CampaignInputs counted = counted_in_steps(inputs);
    return IslandTrial(CampaignPlan(counted), trial, events).run();
  }
  const CampaignPlan plan(inputs);
  return Trial(plan, trial, mode, events).run();
}

CampaignReport run_campaign(const CampaignInputs& inputs, int threads) {
  check_inputs(inputs);
  const bool islands = inputs.table.islands.has_islands();
  const CampaignInputs counted = islands ? counted_in_steps(inputs) : CampaignInputs();
  const CampaignPlan plan(islands ? counted : inputs);
  std::vector<TrialResult> results(inputs.campaign.trials);
  for_each_index(results.size(), threads, [&](std::size_t index) {
    if (inputs.stop.stop_requested()) throw Error("stopped", ExitCode::failed);
    const int trial = inputs.first_trial + static_cast<int>(index);
    results[index] = islands ? IslandTrial(plan, trial).run()
                             : Trial(plan, trial, CampaignMode::fast_forward).run();
  });
  return reduce(inputs, results);
}

}  // namespace windtunnel
