// Months of a job from event to event: failures, snapshots, recovery, spares. The rules:
// - A snapshot taken in an iteration holds the state at its start and can be restored complete_s
//   later; until then, and if it is lost, the copy before it counts. stretch.hpp says when one is
//   due.
// - A failure loses the running iteration and the copies of tiers that do not survive it (see
//   policies/snapshot_tiers.hpp). It is detected, the job waits for a node if it lacks one,
//   restarts and loads the newest state left; a failure meanwhile starts this again.
// - A planned stop waits for the end of the iteration and for a last snapshot (stall), then
//   restarts. One that arrives while the job is down is done by then.
// - Copies under way when the job stops are lost. A lost node leaves for its repair time at the
//   failure; a spare or the next repaired node takes its place.
// - Without either the job waits or, when it may shrink, goes on with the nodes left as long as the
//   table knows such an iteration. It grows back after a repair by a planned stop, or at the next
//   failure when no tier survives such a stop.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/campaign_report.hpp"
#include "models/failure_process.hpp"
#include "models/job.hpp"
#include "models/snapshot.hpp"
#include "policies/snapshot_tiers.hpp"

namespace windtunnel {

// What the engine measured of one tier.
struct TierTiming {
  SnapshotTier tier;
  double complete_s = 0;  // from the start of the iteration that takes it until it can be restored
  double restore_s = 0;   // reading it back on all ranks
  // Likewise when nodes were lost that its code or its copies cover.
  double rebuild_s = 0;
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

// One replica's account, seconds; useful + sum(lost) == wall to 1e-9 relative.
struct ReplicaResult {
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
  bool operator==(const ReplicaResult&) const = default;
};

// What happened, for a drawing, a test or a recorded trace.
struct CampaignEvent {
  enum class Kind : std::uint8_t { failure, detected, restored, repaired, evicted, grown, end };
  Kind kind = Kind::failure;
  double at_s = 0;
  int failure_class = -1;            // failure
  std::vector<int> nodes{};          // lost by it
  int tier = kNoTier;                // restored: from which
  std::int64_t iteration = 0;        // restored: the first to run again
  std::int64_t lost_iterations = 0;  // restored: that had run and count no more
  double repair_s = 0;               // failure of nodes: the first one's
};

enum class CampaignMode {
  fast_forward,  // jumps from event to event
  replay,        // steps through every iteration; the oracle of the former
};

// Throws Error: inputs that cannot be, check_snapshot_tiers() included.
ReplicaResult run_replica(const CampaignInputs& inputs, int replica, CampaignMode mode,
                          std::vector<CampaignEvent>* events = nullptr);

// All replicas on `threads` threads (0: all cores); the same bytes for any number of threads.
CampaignReport run_campaign(const CampaignInputs& inputs, int threads = 0);

}  // namespace windtunnel
