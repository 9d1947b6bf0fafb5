// Simulates months of a job many times: failures, snapshots, recovery and spares, from event to
// event. The engine has measured each kind of iteration before (IterationTable), so no network is
// simulated here. A trial is the state machine of sim/campaign/trial.hpp; its account (account.hpp)
// says where each second of wall time went.
//
// Rules of copies, failures, recovery, nodes and elastic groups, and the Loss that each second is
// booked as: docs/physics/campaign.md.
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
  double complete_s = 0;  // from the start of the iteration that takes it until it is restorable
  double restore_s = 0;   // time to read it back on all ranks
  // restore_s after the loss of as many nodes as the code or the copies of the tier tolerate
  double rebuild_s = 0;
  // Time of a snapshot at the storage's full bandwidth; 0: it is stored elsewhere.
  double storage_s = 0;
  StartupReads startup = {};
  // Restoring takes this much longer with another number of replicas in the same layout.
  double reshape_s = 0;
  double convert_s = 0;  // additional time to restore in another layout (tp, pp)
};

// The durations of every kind of iteration that a campaign can meet, measured before the trials
// start.
struct IterationTable {
  // By the set of tiers due in the iteration (bit i = tier i); [0] is the plain iteration. Entries
  // are at least as long as [0]. At most kMaxSnapshotTiers tiers. A shrunk iteration stalls as long
  // as a full one.
  std::vector<double> iteration_s;
  std::vector<TierTiming> tiers;
  StartupReads anew = {};   // for a start without a copy
  double storm_chance = 1;  // probability that other jobs read while this job restarts
  // [j]: plain iteration time and share of the batch with j + 1 nodes out (shrink). The code that
  // fills this decides how a lost node affects the layout. With more nodes out the job waits.
  std::vector<double> shrunk_iteration_s;
  std::vector<double> shrunk_progress;
  // [i] is a layout that relayout uses for these iterations, sorted from most nodes to fewest
  std::vector<RelaidLayout> relaid = {};
  // [j] is the number of the layout in `relaid`, from 1; 0 or no entry: the job keeps its layout.
  std::vector<int> shrunk_layout = {};
  // 0 if all sizes were simulated. Otherwise a rough bound on the relative error of the other
  // sizes, from the differences between simulated neighbours or the error of the closed form there.
  double shrunk_gap = 0;
  // [class] is an iteration with one slow node of that failure class; 0 for other kinds.
  std::vector<double> slow_iteration_s;
  // Steps before the compressor starts, as a share of all steps of the run, not of this campaign.
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
  double price_usd_per_s = 0;  // of all GPUs, including spares
  double storage_share = 1;    // StorageSpec::share
  int first_trial = 0;         // trials with other numbers have other failures
  std::stop_token stop = {};   // checked before each trial, in derived campaigns too
};

// Intervals that a tier's rule (SnapshotTier::own) chose in a trial. Only intervals that ended in a
// snapshot are counted, not those that a failure cut short.
struct RuledIntervals {
  std::int64_t asked = 0;
  std::int64_t snapshots = 0;
  double sum_s = 0;
  bool operator==(const RuledIntervals&) const = default;
};

// One trial's account, seconds; useful + sum(lost) == wall to 1e-9 relative.
struct TrialResult {
  // The campaign's length, less the part of an iteration that its end would interrupt.
  double wall_s = 0;
  double useful_s = 0;
  double lost_s[kLosses] = {};
  std::int64_t iterations = 0;         // iterations whose result survived
  std::vector<std::int64_t> failures;  // by class index
  // Number of unexpected failures by the tier that the restart loads from; two further entries
  // count restarts from nothing and from the state of other islands.
  std::vector<std::int64_t> restored_from;
  std::vector<std::int64_t> snapshots;          // by tier, in whole iterations
  std::vector<std::int64_t> skipped_snapshots;  // by tier: due while the last was unfinished
  double node_down_s = 0;                       // time in repair, summed over all nodes
  std::int64_t counts[kCampaignCounts] = {};
  double at_size_s[kSizeClasses] = {};  // [size_class()] time of whole iterations, kept or lost
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
    grown,  // after growth, or when groups have rejoined
    end,
    swapped,   // a slow node, or one with a notice, left
    reformed,  // the remaining groups continue from `iteration`
    saved,     // the last snapshot before a planned stop, in `tier`
  };
  Kind kind = Kind::failure;
  double at_s = 0;
  int failure_class = -1;  // failure, swapped
  // failure, swapped: the slots hit (only in node failures do they become empty); repaired,
  // evicted: the node, numbered from 0, spares after those of the job.
  std::vector<int> nodes{};
  int tier = kNoTier;                // restored: the source; saved: the destination
  std::int64_t iteration = 0;        // restored, reformed, saved: the next to run
  std::int64_t lost_iterations = 0;  // restored: iterations whose results were lost
  double repair_s = 0;               // node failures: of the first node
};

enum class CampaignMode {
  fast_forward,  // jumps from event to event
  replay,        // steps through every iteration; reference for tests of fast_forward
};

// Throws Error if parts cannot be combined, and as check_recovery() and check_snapshot_tiers().
TrialResult run_trial(const CampaignInputs& inputs, int trial, CampaignMode mode,
                      std::vector<CampaignEvent>* events = nullptr);

// The same with each rule replaced by its mean interval in the campaign, for theory and tables.
CampaignInputs with_ruled_intervals(CampaignInputs inputs, const CampaignReport& report);

// The same campaign with other failures. Choices between settings are made with these: the best of
// several settings was also lucky in the failures that it met, so its goodput there is biased
// upwards (the optimizer's curse: Smith and Winkler 2006, Management Science 52, doi
// 10.1287/mnsc.1050.0451). What is reported about the choice comes from the campaign itself.
CampaignInputs to_choose_by(CampaignInputs inputs);

// Runs all trials on `threads` threads (0: all cores); results are identical for any number of
// threads. Throws Error with exit code 1 if it is stopped.
CampaignReport run_campaign(const CampaignInputs& inputs, int threads = 0);

}  // namespace windtunnel
