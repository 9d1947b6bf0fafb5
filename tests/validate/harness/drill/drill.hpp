// A drill causes a real failure. Each node has a trainer and a keeper process, and its state is
// saved to the tiers of a stack during training. Then some processes are killed (SIGKILL), all
// trainers restart, and the state is restored from the newest copy that is left, over links of
// stated rates. tests/validate/harness/drill/foreseen_drill.hpp predicts the outcome.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/calibration/calibration.hpp"
#include "models/cost/snapshot/restore_cost.hpp"
#include "models/machine/cluster.hpp"
#include "models/reliability/snapshot_place.hpp"
#include "policies/protection/snapshot_tiers.hpp"

namespace windtunnel {

// On each link the whole state of a node takes this many seconds. The times are assumed, and long
// compared with the overhead of processes and sockets.
struct DrillPace {
  double gpu_s = 0.03;      // between host and GPU
  double network_s = 0.04;  // per NIC
  double disk_s = 0.05;     // per node
  double storage_s = 0.08;  // all nodes share it
  double storage_latency_s = 0.005;
};

// Returns whether a tier saves the state after this number of iterations.
inline bool saves_after(const SnapshotTier& tier, std::int64_t iterations) {
  return iterations > 0 && iterations % tier.every_iterations == 0;
}
inline bool in_host_memory(const SnapshotTier& tier) {
  const PlaceTraits& place = traits_of(tier);
  return place.copied && !place.way;
}

struct Drill {
  int nodes = 1;
  std::size_t state_bytes = 0;      // per node
  std::vector<SnapshotTier> tiers;  // all by iterations
  std::int64_t iterations = 0;      // before the failure
  DrillPace pace;
  std::vector<int> lost_nodes;  // trainer, keeper and disks are lost
  std::vector<int> lost_trainers;
  std::vector<int> lost_keepers;  // their trainers are lost, too
  int flipped_tier = kNoTier;     // a byte of a node's copy in memory flips
  int flipped_node = -1;
  // The failure strikes during this tier's last snapshot, when this many nodes have written their
  // parts. This applies only if a snapshot is due after the last iteration.
  int interrupted_tier = kNoTier;
  int written_nodes = 0;
  std::int64_t full_disk_from = 0;  // disks of nodes are full from then on; 0: never

  // Returns whether this tier has a complete copy after the iteration.
  bool completes(int tier, std::int64_t iteration) const;
};

// Returns the machine of a drill, with one GPU per node, as the cost models see it.
Cluster drill_cluster(const Drill& drill);
Calibration drill_calibration();
// States the seconds to load a tier's copy (models/cost/snapshot/restore_cost.hpp).
struct LoadTime {
  double whole_s = 0;
  double rebuilt_s = 0;  // with some nodes lost; 0: the code covers none
};
LoadTime load_time(const Drill& drill, const SnapshotTier& tier);

struct DrillOutcome {
  int tier = kNoTier;  // the tier that was restored from, if any
  std::int64_t iteration = 0;
  bool intact = true;      // every byte of every node is as training makes it
  double restore_s = 0;    // from the restart until every node has its state
  int refused_copies = 0;  // by a full disk; measured only
};

// Runs the drill and leaves no process and no file behind. Throws Error if a job of this kind
// cannot have one of the tiers, and Error (failed) if the system refuses. The calling process may
// have no other thread.
DrillOutcome run_drill(const Drill& drill);

}  // namespace windtunnel
