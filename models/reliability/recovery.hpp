// What a job does after a failure, beyond what its snapshots decide: spares, repairs, how long
// detection and a restart take, and whether it waits, shrinks, reroutes or goes on in groups. How a
// campaign uses these numbers: docs/physics/campaign.md.
#pragma once

#include <vector>

namespace windtunnel {

enum class WhenNoSpare {
  wait,      // for a repair
  shrink,    // go on with fewer data-parallel replicas, grow back after a repair
  reroute,   // the other replicas' ranks of the same stage take the lost node's micro-batches
  relayout,  // go on in another layout (tp, pp, dp) of fewer nodes, with the whole batch
};

// What an island of replicas (Layout::islands) that begins again takes from one that trains.
enum class PeerStream {
  state,    // weights, and what its optimizers hold
  weights,  // these alone: its inner optimizer begins anew
};

// A layout to go on in, as far as it differs from the job's.
struct RelayoutSize {
  int tp = 1;
  int pp = 1;
  int dp = 1;
  bool operator==(const RelayoutSize&) const = default;
};

// Replicas that are whole go on while the one that failed restarts beside them and takes its state
// from them (torchft; FT-HSDP, arXiv 2602.00277). The step under way is lost.
struct ElasticGroups {
  int groups = 0;             // 0: not elastic
  double stall_s = 0;         // of the others, until they go on: new quorum, communicators
  double rejoin_s = 0;        // after it until the lost group is back, once it has all its nodes
  double rejoin_stall_s = 0;  // of all, to take it in
};

// When somebody is there to act. Hours of the day, [from, to); equal: always.
struct AttendedHours {
  double from_h = 0;
  double to_h = 0;
};

struct RecoveryPolicy {
  int spares = 0;          // nodes that wait
  double detect_s = 60;    // of classes that do not say; see FailureClass::detect_s
  double restart_s = 180;  // scheduler, processes, communicators, warm-up
  WhenNoSpare when_no_spare = WhenNoSpare::wait;
  int hot_spares = 0;         // spares that can join at once
  double provision_s = 0;     // until another spare can
  double success = 1;         // share of restarts that work; otherwise restart_s again
  int repair_slots = 0;       // nodes in repair at a time, the others queue; 0: all
  int evict_after = 0;        // failures after which a node is not taken back; 0: never
  double evict_within_s = 0;  // counted over this time; 0: over the whole campaign
  AttendedHours attended{};
  double manual_s = 0;         // what a human needs, where one must act
  double steady_overhead = 0;  // share of every iteration that readiness costs (Bamboo)
  ElasticGroups elastic{};
  PeerStream stream = PeerStream::state;
  std::vector<RelayoutSize> relayouts{};  // (relayout) empty: any
};

// What no key's range says: throws Error about the keys that do not go together, or with a job of
// so many nodes.
void check_recovery(const RecoveryPolicy& recovery, int nodes);

}  // namespace windtunnel
