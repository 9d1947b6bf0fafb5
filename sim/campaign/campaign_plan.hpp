// What all trials of a campaign share and is made before they start: the tiers with what each
// survives, and the pace of every state that the job can train in (nodes or groups out, a slow
// node).
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "policies/protection/snapshot_tiers.hpp"
#include "sim/campaign/campaign.hpp"
#include "sim/campaign/pace.hpp"

namespace windtunnel {

inline constexpr int kNoSlowNode = -1;

// What a job can go on as: whole, or smaller. Sizes that take the same time and give as much are
// one.
struct JobSize {
  double iteration_s = 0;  // without overheads and snapshots
  double progress = 1;     // share of the full batch that an iteration gives
  int layout = 0;          // of IterationTable::shrunk_layout
  bool operator==(const JobSize&) const = default;
};

// The state of a job while it trains. A level is the number of nodes that are out or, where the
// recovery is elastic, of groups; several levels may leave a job of one size.
struct CampaignPlan {
  explicit CampaignPlan(const CampaignInputs& campaign_inputs);

  bool is_elastic() const { return inputs.recovery.elastic.groups > 0; }
  // slow_class: of the slowest node, an index into inputs.failures, or kNoSlowNode.
  int pace_index(int level, int slow_class) const {
    return size_of(level) * (1 + static_cast<int>(inputs.failures.size())) + 1 + slow_class;
  }
  int size_of_pace(int pace) const { return pace / (1 + static_cast<int>(inputs.failures.size())); }
  const Pace& pace(int index) const { return paces[place_of_pace[index]]; }
  // The tier that is first to hold a whole state which outlives a stop and these nodes; kNoTier:
  // none does within the time.
  int saver_within(double time_s, std::span<const int> lost_nodes) const;
  // An index into `sizes`; beyond the highest level, where the job waits, of that.
  int size_of(int level) const { return size_of_level[std::min(level, most_out)]; }
  // Which layout a copy taken at this level is of: 0 where only the work of others is missing.
  int layout_of(int level) const {
    const WhenNoSpare then = inputs.recovery.when_no_spare;
    const bool changes = then == WhenNoSpare::shrink || then == WhenNoSpare::relayout;
    return changes && !is_elastic() ? size_of(level) : 0;
  }

  // Converting a copy of the tier from one layout_of() to another; of an island, which has another
  // layout with each number of nodes out, from one of these numbers to another.
  double conversion_s(std::size_t tier, int from, int to) const {
    const TierTiming& timing = inputs.table.tiers[tier];
    if (from == to) return 0;
    const bool alike =
        !inputs.table.islands.has_islands() && sizes[from].layout == sizes[to].layout;
    return alike ? timing.reshape_s : timing.convert_s;
  }

  const CampaignInputs& inputs;     // must outlive the plan
  std::vector<SnapshotTier> tiers;  // of inputs.table
  std::vector<TierProtection> protections;
  std::vector<int> kept;  // by tier: complete copies that may be asked for
  bool has_replicas;      // among the tiers
  int saver;              // tier of the last snapshot before a planned stop, or kNoTier
  bool saver_outlives_node;
  double mtbf_s;  // mean time between failures that go back to a snapshot; infinite: there are none
  int most_out;   // the highest level
  std::vector<JobSize> sizes;  // [0]: whole
  std::vector<int> size_of_level;
  std::vector<int> place_of_pace;
  std::vector<Pace> paces;

 private:
  JobSize size_at(int level) const;
};

}  // namespace windtunnel
