// What a job does after a failure, apart from restoring a snapshot: spares, repairs, durations of
// detection and restart, and whether it waits, shrinks, reroutes or continues in groups. How a
// campaign uses these numbers: docs/physics/campaign.md.
#pragma once

#include <vector>

namespace windtunnel {

enum class WhenNoSpare {
  wait,      // for a repair
  shrink,    // continue with fewer data-parallel replicas; grow again after a repair
  reroute,   // ranks of the same stage in other replicas take over the lost node's micro-batches
  relayout,  // continue in another layout (tp, pp, dp) on fewer nodes, with the whole batch
};

// What a restarting island of replicas (Layout::islands) copies from one that trains.
enum class PeerStream {
  state,    // weights, and what its optimizers hold
  weights,  // these alone: its inner optimizer begins anew
};

// A layout to continue in, as far as it differs from the job's.
struct RelayoutSize {
  int tp = 1;
  int pp = 1;
  int dp = 1;
  bool operator==(const RelayoutSize&) const = default;
};

// Intact replicas continue while the failed one restarts and copies its state from them (torchft;
// FT-HSDP, arXiv 2602.00277). The step in progress is lost.
struct ElasticGroups {
  int groups = 0;       // 0: not elastic
  double stall_s = 0;   // how long the others stop: new quorum, communicators
  double rejoin_s = 0;  // time from then until the lost group is back, once it has all its nodes
  double rejoin_stall_s = 0;  // how long all stop while it joins
};

// When humans are available: hours of the day, [from, to); equal: always.
struct AttendedHours {
  double from_h = 0;
  double to_h = 0;
};

struct RecoveryPolicy {
  int spares = 0;          // idle nodes
  double detect_s = 60;    // default for classes without FailureClass::detect_s
  double restart_s = 180;  // scheduler, processes, communicators, warm-up
  WhenNoSpare when_no_spare = WhenNoSpare::wait;
  int hot_spares = 0;      // number of spares that can join immediately
  double provision_s = 0;  // time until any other spare can join
  double success = 1;      // probability that a restart works; otherwise it takes restart_s again
  int repair_slots = 0;    // nodes that can be repaired at a time; others queue; 0: no limit
  int evict_after = 0;     // number of failures after which a node is removed for good; 0: never
  double evict_within_s = 0;  // counted over this time; 0: over the whole campaign
  AttendedHours attended{};
  double manual_s = 0;         // time that a human needs if one must act
  double steady_overhead = 0;  // share of every iteration spent on being prepared (Bamboo)
  ElasticGroups elastic{};
  PeerStream stream = PeerStream::state;
  std::vector<RelayoutSize> relayouts{};  // (relayout) empty: any
};

// Checks that single ranges cannot express: throws Error about keys that conflict with each other
// or with the number of nodes.
void check_recovery(const RecoveryPolicy& recovery, int nodes);

}  // namespace windtunnel
