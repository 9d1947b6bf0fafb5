// What all trials of a campaign share and is made before they start: the tiers with what each
// survives, and the pace of every state that the job can train in (nodes or groups out, a slow
// node).
#pragma once

#include <vector>

#include "policies/protection/snapshot_tiers.hpp"
#include "sim/campaign/campaign.hpp"
#include "sim/campaign/pace.hpp"

namespace windtunnel {

inline constexpr int kNoSlowNode = -1;

// The state of a job while it trains. A level is the number of nodes that are out or, where the
// recovery is elastic, of groups.
struct CampaignPlan {
  explicit CampaignPlan(const CampaignInputs& campaign_inputs);

  bool is_elastic() const { return inputs.recovery.elastic.groups > 0; }
  // slow_class: of the slowest node, an index into inputs.failures, or kNoSlowNode.
  int pace_index(int level, int slow_class) const {
    return level * (1 + static_cast<int>(inputs.failures.size())) + 1 + slow_class;
  }
  int level_of(int pace) const { return pace / (1 + static_cast<int>(inputs.failures.size())); }
  const Pace& pace(int index) const { return paces[place_of_pace[index]]; }
  // Nodes that the layout of this level does without; others only do without their work.
  int out_of_layout(int level) const {
    const bool shrinks = inputs.recovery.when_no_spare == WhenNoSpare::shrink && !is_elastic();
    return shrinks ? level : 0;
  }
  // Share of the full batch that an iteration gives.
  double progress(int level) const;

  const CampaignInputs& inputs;     // must outlive the plan
  std::vector<SnapshotTier> tiers;  // of inputs.table
  std::vector<TierProtection> protections;
  std::vector<int> kept;  // by tier: complete copies that may be asked for
  bool has_replicas;      // among the tiers
  int saver;              // tier of the last snapshot before a planned stop, or kNoTier
  bool saver_outlives_node;
  int most_out;  // the highest level
  std::vector<int> place_of_pace;
  std::vector<Pace> paces;
};

}  // namespace windtunnel
