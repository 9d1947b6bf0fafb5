#include "tests/validate/harness/drill/foreseen_drill.hpp"

#include "sim/campaign/copies.hpp"

namespace windtunnel {
namespace {

CampaignInputs inputs_of(const Drill& drill) {
  CampaignInputs inputs;
  inputs.nodes = drill.nodes;
  inputs.same_shard = {drill.nodes, 1, 1};
  inputs.table.iteration_s.assign(std::size_t{1} << drill.tiers.size(), 1.0);
  for (const SnapshotTier& tier : drill.tiers) {
    const LoadTime time = load_time(drill, tier);
    TierTiming timing;
    timing.tier = tier;
    timing.restore_s = time.whole_s;
    timing.rebuild_s = time.rebuilt_s;
    inputs.table.tiers.push_back(timing);
  }
  return inputs;
}

}  // namespace

DrillOutcome foreseen(const Drill& drill) {
  const CampaignInputs inputs = inputs_of(drill);
  const CampaignPlan plan(inputs);
  Copies copies(plan);
  for (std::int64_t iteration = 1; iteration <= drill.iterations; ++iteration) {
    for (int tier = 0; tier < std::ssize(drill.tiers); ++tier) {
      if (!drill.completes(tier, iteration)) continue;
      copies.add(tier, {iteration, static_cast<double>(iteration)}, 0);
    }
  }
  const double struck_s = static_cast<double>(drill.iterations) + 0.5;
  FailureClass end;
  end.kind = FailureKind::process;
  end.takes_keeper = !drill.lost_keepers.empty();
  if (drill.flipped_tier >= 0) copies.lose_part(drill.flipped_tier, drill.flipped_node, struck_s);
  for (const int node : drill.lost_nodes) copies.lose_node(node, struck_s);
  for (const int node : drill.lost_keepers) copies.lose_keeper(node, struck_s);
  copies.end_trainers(end);
  const Copies::Source source = copies.newest(true, 0);
  DrillOutcome outcome;
  outcome.tier = source.tier;
  if (source.tier == kNoTier) return outcome;
  outcome.iteration = source.iteration;
  outcome.restore_s = source.load_s;
  return outcome;
}

}  // namespace windtunnel
