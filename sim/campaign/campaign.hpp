// Months of a job from event to event: failures, snapshots, recovery, spares. The rules:
//
// Copies
// - A snapshot taken in an iteration holds the state at its start and can be restored complete_s
//   later; until then, and if it is lost, the copy before it counts. undisturbed_run.hpp says when
//   one is due.
// - A failure loses the running iteration, copies under way, and the copies of tiers that do not
//   survive the end of the trainers (policies/protection/snapshot_tiers.hpp). A lost node is lost
//   for every copy that was begun before, of tiers that are on nodes; a copy is there as long as no
//   group lost more than its code tolerates. With nodes lost a load takes rebuild_s, where there is
//   one; in a job that has shrunk or grown since, reshape_s more. A keeper that dies with its
//   trainer counts as a lost node of a code over nodes.
// - Memory keeps the newest copy, disks and storage `kept` ones.
// - Replicas have no cadence: their copy is the start of the iteration under way. The GPUs that the
//   failure hit are lost, and those of places where nobody stands or of groups that are out; after
//   a restart all hold the state again. A planned stop ends them.
// Failures
// - One that stops the job is detected (Loss::detect); where a human must act, that takes until the
//   next attended hour (a campaign starts at midnight) and manual_s. The job waits for nodes that
//   it lacks and for the link of a network failure, if its repair takes time, whoever stands by
//   (Loss::wait). It restarts, again where that does not work, and loads the newest state left
//   (Loss::restart); a failure meanwhile starts all this again.
// - A hang costs what it takes to notice it, then it is a crash that leaves keepers alive.
// - A batch takes several nodes at once, each with its own repair.
// - A slow node slows the job, from the iteration under way on, until it is noticed; then it is
//   replaced by a planned stop, or as a failure when no copy would outlive that. Of several the
//   slowest counts. Noticed while the job is down, it is replaced by a stop after the restart.
// - A corrupt snapshot is the newest complete copy of its tier; the time of its load is spent
//   before the next newest copy of any tier is tried.
// - A loss spike spoils all copies begun less than rollback_s before it.
// - A planned stop waits for the end of the iteration and for a last snapshot (stall), then
//   restarts. One that arrives while the job is down is done by then, and so is a loss spike.
// - A failure that strikes a place where nobody stands is counted, no more.
// Nodes
// - A lost node leaves for its repair at the failure, when a repair slot is free. The first spare
//   takes its place: one of the hot ones at once, another after provision_s, by which the restart
//   is longer; the next spare is made ready then. Without a spare the first node back takes the
//   place. A node lost evict_after times (within evict_within_s) does not come back from repair.
// - Hazards go with nodes: places where nobody stands do not fail, lemons that leave take their
//   share of the rate along.
// - Without spares the job waits or, when it may shrink or reroute, goes on with the nodes left as
//   long as the table knows such an iteration. It grows back after a repair by a planned stop, or
//   at the next failure when no tier survives such a stop.
// - steady_overhead and the missing share of smaller jobs are Loss::degraded.
// Elastic groups
// - A failure of some groups costs the step under way, its detection and stall_s (Loss::restart);
//   then the others go on, periods of snapshots included. The table's rows count groups out; with
//   more out the job restarts from its tiers. No tier is asked before, and restored_from does not
//   count it, but tiers lose what they lose in any failure.
// - A group is back rejoin_s after it has its nodes and the stall is over: at the end of an
//   iteration, for rejoin_stall_s (Loss::restart). A failure of a group that is out starts its own
//   recovery again and stops nobody else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/plan/job.hpp"
#include "models/reliability/failure_process.hpp"
#include "models/reliability/snapshot.hpp"
#include "models/results/campaign_report.hpp"
#include "models/results/iteration_report.hpp"
#include "policies/protection/snapshot_tiers.hpp"

namespace windtunnel {

// What the engine measured of one tier.
struct TierTiming {
  SnapshotTier tier;
  double complete_s = 0;  // from the start of the iteration that takes it until it can be restored
  double restore_s = 0;   // reading it back on all ranks
  // Likewise when nodes were lost that its code or its copies cover.
  double rebuild_s = 0;
  // Besides, under `shrink`, when other nodes are out than when it was taken: converting the copy.
  double reshape_s = 0;
};

// The durations of every kind of iteration a campaign can meet, made before the threads start.
struct IterationTable {
  // By the set of tiers due in this iteration (bit i = tier i); [0] is the plain iteration; one
  // that comes out shorter counts as long as it. At most kMaxSnapshotTiers tiers. A shrunk
  // iteration stalls as long as a full one.
  std::vector<double> iteration_s;
  std::vector<TierTiming> tiers;
  // [j]: with j + 1 nodes out (shrink), plain iteration time and share of the batch. What a lost
  // node costs the layout is decided by who fills this. With more nodes out the job waits.
  std::vector<double> shrunk_iteration_s;
  std::vector<double> shrunk_progress;
  // By failure class: an iteration with one slow node of that class; 0 for other kinds.
  std::vector<double> slow_iteration_s;
  // Of the whole job's steps; a campaign is a time behind it.
  Warmup warmup = {};
};

struct CampaignInputs {
  int nodes = 1;          // that the job runs on, without spares
  NodeGroups same_shard;  // same_shard_nodes()
  IterationTable table;
  std::vector<FailureClass> failures;
  RecoveryPolicy recovery;
  Campaign campaign;
  double tokens_per_iteration = 0;
  double tokens = 0;
  double price_usd_per_s = 0;  // of all GPUs, spares included
};

// One trial's account, seconds; useful + sum(lost) == wall to 1e-9 relative.
struct TrialResult {
  // The campaign's length; less the part of an iteration that its end would cut.
  double wall_s = 0;
  double useful_s = 0;
  double lost_s[kLosses] = {};
  std::int64_t iterations = 0;         // that survived
  std::vector<std::int64_t> failures;  // by class index
  // Unexpected failures by the tier restored from, as decided when they struck; last: from nothing.
  std::vector<std::int64_t> restored_from;
  std::vector<std::int64_t> snapshots;          // by tier, in whole iterations
  std::vector<std::int64_t> skipped_snapshots;  // by tier: due while the last was unfinished
  double node_down_s = 0;                       // of all nodes together, in repair
  std::int64_t failed_restarts = 0;
  std::int64_t evicted_nodes = 0;
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
    swapped,   // a slow node left
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

// Throws Error: inputs that cannot be, check_snapshot_tiers() included.
TrialResult run_trial(const CampaignInputs& inputs, int trial, CampaignMode mode,
                      std::vector<CampaignEvent>* events = nullptr);

// All trials on `threads` threads (0: all cores); the same bytes for any number of threads.
CampaignReport run_campaign(const CampaignInputs& inputs, int threads = 0);

}  // namespace windtunnel
