#include "sim/campaign/campaign_plan.hpp"

#include <algorithm>
#include <limits>

#include "models/reliability/failure_traits.hpp"
#include "models/reliability/snapshot_place.hpp"

namespace windtunnel {
namespace {

// A copy older than the newest one is needed only if the newest can turn out to be corrupt.
int kept_copies(const SnapshotTier& tier, const std::vector<FailureClass>& failures) {
  const PlaceTraits& place = traits_of(tier);
  if (!place.copied) return 0;
  const bool spoilt = std::ranges::any_of(failures, [](const FailureClass& failure_class) {
    return traits_of(failure_class.kind).spoils_copies;
  });
  return spoilt && place.keeps_several() ? std::clamp(tier.kept, 1, kMostKeptCopies) : 1;
}

// Returns the mean time between failures that restore a snapshot, by the rates of their classes.
double mean_time_between(const CampaignInputs& inputs) {
  double per_s = 0;
  for (const FailureClass& one : inputs.failures) {
    if (!traits_of(one.kind).goes_back) continue;
    per_s += mean_rate_per_s(one, inputs.nodes, inputs.campaign.length_s);
  }
  return per_s > 0 ? 1 / per_s : std::numeric_limits<double>::infinity();
}

}  // namespace

CampaignPlan::CampaignPlan(const CampaignInputs& campaign_inputs) : inputs(campaign_inputs) {
  const IterationTable& table = inputs.table;
  for (const TierTiming& timing : table.tiers) {
    tiers.push_back(timing.tier);
    protections.push_back(protection_of(timing.tier, inputs.nodes, inputs.same_shard));
    kept.push_back(kept_copies(timing.tier, inputs.failures));
  }
  has_replicas =
      std::ranges::any_of(tiers, [](const SnapshotTier& tier) { return !traits_of(tier).copied; });
  saver = tier_for_planned_stop(tiers);
  saver_outlives_node =
      saver != kNoTier && (!protections[saver].node || protections[saver].tolerated > 0);
  mtbf_s = mean_time_between(inputs);
  most_out = static_cast<int>(table.shrunk_iteration_s.size());
  if (is_elastic()) {
    most_out = std::min(most_out, inputs.recovery.elastic.groups - 1);
  } else if (inputs.recovery.when_no_spare == WhenNoSpare::wait) {
    most_out = 0;
  }
  const double plain_s = table.iteration_s[0];
  for (int level = 0; level <= most_out; ++level) {
    const JobSize size = size_at(level);
    if (sizes.empty() || size != sizes.back()) sizes.push_back(size);
    size_of_level.push_back(static_cast<int>(sizes.size()) - 1);
  }
  for (const JobSize& size : sizes) {
    const double iteration_s = size.iteration_s * (1 + inputs.recovery.steady_overhead);
    place_of_pace.push_back(static_cast<int>(paces.size()));
    paces.emplace_back(table, iteration_s, kept);
    for (std::size_t i = 0; i < inputs.failures.size(); ++i) {
      const bool slow = inputs.failures[i].kind == FailureKind::slow_node;
      place_of_pace.push_back(slow ? static_cast<int>(paces.size()) : -1);
      if (!slow) continue;
      const double slowdown = std::max(1.0, table.slow_iteration_s[i] / plain_s);
      paces.emplace_back(table, iteration_s * slowdown, kept);
    }
  }
}

int CampaignPlan::saver_within(double time_s, std::span<const int> lost_nodes) const {
  int best = kNoTier;
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    const double saved_s = inputs.table.tiers[i].complete_s;
    const bool outlives = protections[i].stop && survives_nodes(protections[i], lost_nodes);
    if (!outlives || saved_s > time_s) continue;
    if (best == kNoTier || saved_s < inputs.table.tiers[best].complete_s)
      best = static_cast<int>(i);
  }
  return best;
}

JobSize CampaignPlan::size_at(int level) const {
  const IterationTable& table = inputs.table;
  const double plain_s = table.iteration_s[0];
  if (level == 0) return {plain_s, 1};
  const double groups = inputs.recovery.elastic.groups;
  const double progress =
      is_elastic() ? (groups - level) / groups : table.shrunk_progress[level - 1];
  // A smaller job's iteration, with a share of the batch, takes at least this share of a full one.
  const auto place = static_cast<std::size_t>(level - 1);
  const int layout = place < table.shrunk_layout.size() ? table.shrunk_layout[place] : 0;
  return {std::max(table.shrunk_iteration_s[place], progress * plain_s), progress, layout};
}

}  // namespace windtunnel
