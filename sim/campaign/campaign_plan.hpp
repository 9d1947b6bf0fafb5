// What all trials of a campaign have in common, computed before they start: the tiers with the
// failures that each survives, and the pace in every state in which the job can train (nodes or
// groups out, a slow node).
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "policies/protection/snapshot_tiers.hpp"
#include "sim/campaign/campaign.hpp"
#include "sim/campaign/pace.hpp"

namespace windtunnel {

inline constexpr int kNoSlowNode = -1;

// A size at which the job can train: whole, or smaller. Sizes with equal time and progress are
// merged.
struct JobSize {
  double iteration_s = 0;  // without losses and snapshots
  double progress = 1;     // share of the full batch that an iteration processes
  int layout = 0;          // number in IterationTable::shrunk_layout
  bool operator==(const JobSize&) const = default;
};

// The plan numbers the states in which the job can train. A level is the number of nodes that are
// out (of groups, if recovery is elastic). Several levels may have the same size.
struct CampaignPlan {
  explicit CampaignPlan(const CampaignInputs& campaign_inputs);

  bool is_elastic() const { return inputs.recovery.elastic.groups > 0; }
  // `slow_class` is that of the slowest node, an index into inputs.failures, or kNoSlowNode.
  int pace_index(int level, int slow_class) const {
    return size_of(level) * (1 + static_cast<int>(inputs.failures.size())) + 1 + slow_class;
  }
  int size_of_pace(int pace) const { return pace / (1 + static_cast<int>(inputs.failures.size())); }
  const Pace& pace(int index) const { return paces[place_of_pace[index]]; }
  // Returns the tier that first completes a copy that survives a stop and the loss of these nodes;
  // kNoTier: none does within `time_s`.
  int saver_within(double time_s, std::span<const int> lost_nodes) const;
  // Returns an index into `sizes`. At more than the highest level the job waits, and the size of
  // the highest level is returned.
  int size_of(int level) const { return size_of_level[std::min(level, most_out)]; }
  // Returns the layout of a copy that is taken at this level: 0 if only replicas are missing.
  int layout_of(int level) const {
    const WhenNoSpare then = inputs.recovery.when_no_spare;
    const bool changes = then == WhenNoSpare::shrink || then == WhenNoSpare::relayout;
    return changes && !is_elastic() ? size_of(level) : 0;
  }

  // Returns the time to convert a copy of the tier between layouts, as numbered by layout_of(). An
  // island has another layout for each number of nodes out; then `from` and `to` are these.
  double conversion_s(std::size_t tier, int from, int to) const {
    const TierTiming& timing = inputs.table.tiers[tier];
    if (from == to) return 0;
    const bool alike =
        !inputs.table.islands.has_islands() && sizes[from].layout == sizes[to].layout;
    return alike ? timing.reshape_s : timing.convert_s;
  }

  const CampaignInputs& inputs;     // must outlive the plan
  std::vector<SnapshotTier> tiers;  // those of inputs.table
  std::vector<TierProtection> protections;
  std::vector<int> kept;  // by tier: number of complete copies that may be needed
  bool has_replicas;      // whether there is a tier of kind replicas
  int saver;              // the tier of the last snapshot before a planned stop, or kNoTier
  bool saver_outlives_node;
  double mtbf_s;               // mean time between failures that restore a snapshot; infinite: none
  int most_out;                // the highest level
  std::vector<JobSize> sizes;  // [0]: whole
  std::vector<int> size_of_level;
  std::vector<int> place_of_pace;
  std::vector<Pace> paces;

 private:
  JobSize size_at(int level) const;
};

}  // namespace windtunnel
