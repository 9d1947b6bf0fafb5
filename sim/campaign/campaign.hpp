// Simulates months of a job many times: failures, snapshots, recovery and spares, from event to
// event. The engine has timed each kind of iteration before (IterationTable), so no network is
// simulated here. A trial is the state machine of sim/campaign/trial.hpp. Its account (account.hpp)
// says where each second of wall time went.
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

// What the engine found for one tier.
struct TierTiming {
  SnapshotTier tier;
  double complete_s = 0;  // from the start of the snapshot's iteration until it can be restored
  double restore_s = 0;   // time to read it back on all ranks
  // restore_s after as many nodes are lost as the code or the copies of the tier tolerate
  double rebuild_s = 0;
  // Time of a snapshot at the storage's full bandwidth; 0: the tier does not use the storage.
  double storage_s = 0;
  StartupReads startup = {};
  // Restoring takes this much longer with another number of replicas in the same layout.
  double reshape_s = 0;
  double convert_s = 0;  // additional time to restore in another layout (tp, pp)
};

// The durations of every kind of iteration that a campaign can meet, computed before the trials
// start.
struct IterationTable {
  // By the set of tiers that are due in the iteration (bit i = tier i); [0] is an iteration without
  // snapshots. No entry is shorter than [0]. There are at most kMaxSnapshotTiers tiers. A shrunk
  // iteration stalls as long as a full one.
  std::vector<double> iteration_s;
  std::vector<TierTiming> tiers;
  StartupReads anew = {};   // of a start without a copy
  double storm_chance = 1;  // probability that other jobs read while this job restarts
  // [j]: time of an iteration without snapshots, and share of the batch, if j + 1 nodes are out
  // (shrink). What fills this decides how lost nodes affect the layout. If more are out, it waits.
  std::vector<double> shrunk_iteration_s;
  std::vector<double> shrunk_progress;
  // Layouts that relayout uses for these iterations, from most nodes to fewest.
  std::vector<RelaidLayout> relaid = {};
  // [j] Number of the layout in `relaid`, from 1; 0 or no entry: the job keeps its layout.
  std::vector<int> shrunk_layout = {};
  // 0 if all sizes were simulated. Otherwise a rough bound on the relative error of the others,
  // from differences between simulated neighbours or the error of the closed form there.
  double shrunk_gap = 0;
  // [class] An iteration with one slow node takes this long; 0: no class of slow nodes.
  std::vector<double> slow_iteration_s;
  // Steps before the compressor starts, as a share of all steps of the run (not of this campaign).
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
  double price_usd_per_s = 0;  // of all GPUs, also those of spares
  double storage_share = 1;    // StorageSpec::share
  int first_trial = 0;         // trials with other numbers meet other failures
  std::stop_token stop = {};   // checked before each trial, also in derived campaigns
};

// Intervals that a tier's rule (SnapshotTier::own) chose in a trial. An interval counts only if it
// ended in a snapshot, not if a failure cut it short.
struct RuledIntervals {
  std::int64_t asked = 0;
  std::int64_t snapshots = 0;
  double sum_s = 0;
  bool operator==(const RuledIntervals&) const = default;
};

// One trial's account in seconds. useful_s and all of lost_s add up to wall_s, to 1e-9 relative.
struct TrialResult {
  // The campaign's length, without the part of an iteration that its end would interrupt.
  double wall_s = 0;
  double useful_s = 0;
  double lost_s[kLosses] = {};
  std::int64_t iterations = 0;         // those with results that survived
  std::vector<std::int64_t> failures;  // by failure class
  // Number of unexpected failures by the tier from which the restart loads. Two more entries count
  // restarts from nothing and from the state of other islands.
  std::vector<std::int64_t> restored_from;
  std::vector<std::int64_t> snapshots;          // by tier, taken in whole iterations
  std::vector<std::int64_t> skipped_snapshots;  // by tier: due while the last was not complete
  double node_down_s = 0;                       // time in repair, summed over all nodes
  std::int64_t counts[kCampaignCounts] = {};
  double at_size_s[kSizeClasses] = {};  // [size_class()] time of whole iterations, also lost ones
  std::vector<RuledIntervals> ruled;    // by tier
  std::int64_t& count(CampaignCount what) { return counts[static_cast<int>(what)]; }
  std::int64_t count(CampaignCount what) const { return counts[static_cast<int>(what)]; }
  bool operator==(const TrialResult&) const = default;
};

// An event of a trial, for a drawing, a test or a recorded trace.
struct CampaignEvent {
  enum class Kind : std::uint8_t {
    failure,
    detected,
    restored,
    repaired,
    evicted,
    grown,  // the job has grown, or groups have rejoined
    end,
    swapped,   // a slow node, or a node with a notice, has left
    reformed,  // the remaining groups go on from `iteration`
    saved,     // the last snapshot before a planned stop was taken, in `tier`
  };
  Kind kind = Kind::failure;
  double at_s = 0;
  int failure_class = -1;  // of failure and swapped
  // failure, swapped: the slots that are hit (only failures of nodes empty them); repaired,
  // evicted: the node. Nodes are numbered from 0; spares follow those of the job.
  std::vector<int> nodes{};
  int tier = kNoTier;                // restored: the source; saved: the destination
  std::int64_t iteration = 0;        // restored, reformed, saved: the next iteration to run
  std::int64_t lost_iterations = 0;  // restored: number of iterations with lost results
  double repair_s = 0;               // failures of nodes: repair time of the first node
};

enum class CampaignMode {
  fast_forward,  // jumps from event to event
  replay,        // steps through every iteration; tests compare fast_forward with it
};

// Throws Error if inputs cannot be combined, and as check_recovery() and check_snapshot_tiers().
TrialResult run_trial(const CampaignInputs& inputs, int trial, CampaignMode mode,
                      std::vector<CampaignEvent>* events = nullptr);

// Replaces each rule by its mean interval in the campaign, for theory and tables.
CampaignInputs with_ruled_intervals(CampaignInputs inputs, const CampaignReport& report);

// Returns the same campaign with other failures. Searches choose between settings with these: the
// best of several settings was also lucky in the failures that it met, so its goodput is biased
// upwards (the optimizer's curse: Smith and Winkler 2006, Management Science 52, doi
// 10.1287/mnsc.1050.0451). Reports come from the campaign itself.
CampaignInputs to_choose_by(CampaignInputs inputs);

// Runs all trials on `threads` threads (0: all cores). The report does not depend on their number.
// Throws Error with exit code 1 if it is stopped.
CampaignReport run_campaign(const CampaignInputs& inputs, int threads = 0);

}  // namespace windtunnel
