// Plays months of a job, many times: failures, snapshots, recovery and spares, from event to event.
// The engine has measured each kind of iteration before (IterationTable), so nothing here simulates
// a network. A trial is the state machine of sim/campaign/trial.hpp; its account (account.hpp) says
// where each second of the wall time went.
//
// The rules of copies, failures, recovery, nodes and elastic groups, and which Loss each second is:
// docs/physics/campaign.md.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "models/cost/snapshot/restore_cost.hpp"
#include "models/plan/job.hpp"
#include "models/reliability/failure_process.hpp"
#include "models/reliability/pauses.hpp"
#include "models/reliability/snapshot.hpp"
#include "models/results/campaign_report.hpp"
#include "models/results/iteration_report.hpp"
#include "policies/protection/snapshot_tiers.hpp"
#include "sim/campaign/island_table.hpp"

namespace windtunnel {

// What the engine measured of one tier.
struct TierTiming {
  SnapshotTier tier;
  double complete_s = 0;  // from the start of the iteration that takes it until it can be restored
  double restore_s = 0;   // reading it back on all ranks
  // The same where nodes were lost, as many as the tier's code or copies cover.
  double rebuild_s = 0;
  // Time for which a snapshot would take all of the storage's bandwidth; 0: it goes elsewhere.
  double storage_s = 0;
  StartupReads startup = {};
  double reshape_s = 0;  // besides, to restore it with other replicas in the same layout
  double convert_s = 0;  // besides, to restore it in another layout (tp, pp)
};

// The durations of every kind of iteration a campaign can meet, made before the threads start.
struct IterationTable {
  // By the set of tiers due in this iteration (bit i = tier i); [0] is the plain iteration; one
  // that comes out shorter counts as long as it. At most kMaxSnapshotTiers tiers. A shrunk
  // iteration stalls as long as a full one.
  std::vector<double> iteration_s;
  std::vector<TierTiming> tiers;
  StartupReads anew = {};   // where no copy is left
  double storm_chance = 1;  // that others read beside a restart of the job
  // [j]: with j + 1 nodes out (shrink), plain iteration time and share of the batch. What a lost
  // node costs the layout is decided by who fills this. With more nodes out the job waits.
  std::vector<double> shrunk_iteration_s;
  std::vector<double> shrunk_progress;
  std::vector<RelaidLayout> relaid = {};  // (relayout) those of these iterations, most nodes first
  // [j]: which of `relaid`, counted from 1, that is of another layout; 0 or not there: the job's.
  std::vector<int> shrunk_layout = {};
  // Not all sizes were simulated: how far iteration times of neighbours that were looked at lie
  // apart, or the closed form is off between simulated ones, as a share; the others are off by
  // about as much at most. 0: all were simulated.
  double shrunk_gap = 0;
  // By failure class: an iteration with one slow node of that class; 0 for other kinds.
  std::vector<double> slow_iteration_s;
  // Steps before the compressor starts: a share of all steps of the run, not of this campaign.
  Warmup warmup = {};
  TrainingPauses pauses = {};
  IslandTable islands = {};
};

struct CampaignInputs {
  int nodes = 1;          // nodes that the job runs on, without spares
  NodeGroups same_shard;  // same_shard_nodes()
  IterationTable table;
  std::vector<FailureClass> failures;
  RecoveryPolicy recovery;
  Campaign campaign;
  double tokens_per_iteration = 0;
  double tokens = 0;
  double price_usd_per_s = 0;  // of all GPUs, spares included
  double storage_share = 1;    // StorageSpec::share
  int first_trial = 0;         // its number: trials of other numbers meet other failures
  std::stop_token stop = {};   // asked before each trial, of campaigns that follow from this, too
};

// What a tier's rule (SnapshotTier::own) said in a trial; without one it was not asked. Intervals
// that ended in a snapshot: others a failure cut.
struct RuledIntervals {
  std::int64_t asked = 0;
  std::int64_t snapshots = 0;
  double sum_s = 0;
  bool operator==(const RuledIntervals&) const = default;
};

// One trial's account, seconds; useful + sum(lost) == wall to 1e-9 relative.
struct TrialResult {
  // The campaign's length; less the part of an iteration that its end would cut.
  double wall_s = 0;
  double useful_s = 0;
  double lost_s[kLosses] = {};
  std::int64_t iterations = 0;         // iterations whose result survived
  std::vector<std::int64_t> failures;  // by class index
  // Unexpected failures by the tier restored from, as decided when they struck; then from nothing,
  // and from other islands.
  std::vector<std::int64_t> restored_from;
  std::vector<std::int64_t> snapshots;          // by tier, in whole iterations
  std::vector<std::int64_t> skipped_snapshots;  // by tier: due while the last was unfinished
  double node_down_s = 0;                       // time in repair, summed over all nodes
  std::int64_t counts[kCampaignCounts] = {};
  double at_size_s[kSizeClasses] = {};  // in whole iterations, kept or lost, by size_class()
  std::vector<RuledIntervals> ruled;    // by tier
  std::int64_t& count(CampaignCount what) { return counts[static_cast<int>(what)]; }
  std::int64_t count(CampaignCount what) const { return counts[static_cast<int>(what)]; }
  bool operator==(const TrialResult&) const = default;
};

// What happened, for a drawing, a test or a recorded trace.
struct CampaignEvent {
  enum class Kind : std::uint8_t {
    failure,
    detected,
    restored,
    repaired,
    evicted,
    grown,  // after growth, or with groups back
    end,
    swapped,   // a slow node left, or one that had a notice
    reformed,  // the groups left go on, from `iteration`
    saved,     // the last snapshot of a planned stop, in `tier`
  };
  Kind kind = Kind::failure;
  double at_s = 0;
  int failure_class = -1;  // failure, swapped
  // failure, swapped: the slots hit (of other kinds than node they do not leave); repaired,
  // evicted: the node, numbered from 0, spares after those of the job.
  std::vector<int> nodes{};
  int tier = kNoTier;                // restored: from which; saved: to which
  std::int64_t iteration = 0;        // restored, reformed, saved: the next to run
  std::int64_t lost_iterations = 0;  // restored: that had run and count no more
  double repair_s = 0;               // failure of nodes: the first one's
};

enum class CampaignMode {
  fast_forward,  // jumps from event to event
  replay,        // steps through every iteration; the oracle of the former
};

// Throws Error: parts that do not go together, check_recovery() and check_snapshot_tiers().
TrialResult run_trial(const CampaignInputs& inputs, int trial, CampaignMode mode,
                      std::vector<CampaignEvent>* events = nullptr);

// The same with the mean interval of each rule in the campaign in the rule's place: what theory
// and tables say of it.
CampaignInputs with_ruled_intervals(CampaignInputs inputs, const CampaignReport& report);

// The same campaign with other failures. Whatever is chosen by campaigns is chosen by these: the
// best of several settings was also lucky in the failures that it met, so that its goodput there is
// more than it will have (the optimizer's curse: Smith and Winkler 2006, Management Science 52,
// doi 10.1287/mnsc.1050.0451). What is reported of the choice comes from the campaign itself.
CampaignInputs to_choose_by(CampaignInputs inputs);

// All trials on `threads` threads (0: all cores); the same bytes for any number of threads. Throws
// Error with exit code 1 where it is asked to stop.
CampaignReport run_campaign(const CampaignInputs& inputs, int threads = 0);

}  // namespace windtunnel
