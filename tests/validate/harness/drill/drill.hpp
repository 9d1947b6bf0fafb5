// A failure for real: nodes of a trainer and a keeper process each, whose state goes to the tiers
// of a stack as training goes on; then some are killed (SIGKILL), all trainers begin anew, and the
// state comes back from the newest copy that is left, over links of stated rates. What the
// simulator says of it beforehand: tests/validate/harness/drill/foreseen_drill.hpp.
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

// Seconds in which the whole state of a node passes each: assumed, long beside what processes and
// sockets take by themselves.
struct DrillPace {
  double gpu_s = 0.03;      // between host and GPU
  double network_s = 0.04;  // a NIC
  double disk_s = 0.05;     // of a node
  double storage_s = 0.08;  // of all nodes together, from or to the storage that they share
  double storage_latency_s = 0.005;
};

// Whether a tier saves the state after this number of iterations.
inline bool saves_after(const SnapshotTier& tier, std::int64_t iterations) {
  return iterations > 0 && iterations % tier.every_iterations == 0;
}
inline bool in_host_memory(const SnapshotTier& tier) {
  const PlaceTraits& place = traits_of(tier);
  return place.copied && !place.way;
}

struct Drill {
  int nodes = 1;
  std::size_t state_bytes = 0;      // of each node
  std::vector<SnapshotTier> tiers;  // by iterations
  std::int64_t iterations = 0;      // before the failure
  DrillPace pace;
  std::vector<int> lost_nodes;  // with trainer, keeper and what is on their disks
  std::vector<int> lost_trainers;
  std::vector<int> lost_keepers;  // and with them their trainers
  int flipped_tier = kNoTier;     // in memory: a byte of the copy of a node
  int flipped_node = -1;
  // The failure strikes while this tier's last snapshot is under way: so many nodes have written
  // theirs. Only where one is due after the last iteration.
  int interrupted_tier = kNoTier;
  int written_nodes = 0;
  std::int64_t full_disk_from = 0;  // the disks of nodes are full from this iteration on; 0: never

  // A copy of this tier is whole after the iteration.
  bool completes(int tier, std::int64_t iteration) const;
};

// The machine of a drill, a GPU to a node, and how the model of costs sees it.
Cluster drill_cluster(const Drill& drill);
Calibration drill_calibration();
// Seconds to load a tier's copy (models/cost/snapshot/restore_cost.hpp).
struct LoadTime {
  double whole_s = 0;
  double rebuilt_s = 0;  // with nodes lost that its code covers; 0: it covers none
};
LoadTime load_time(const Drill& drill, const SnapshotTier& tier);

struct DrillOutcome {
  int tier = kNoTier;  // that the state came from; kNoTier: none is left
  std::int64_t iteration = 0;
  bool intact = true;      // every byte of every node is what training makes of it
  double restore_s = 0;    // from when the job begins anew until every node has its state
  int refused_copies = 0;  // that a full disk did not take; measured only
};

// Leaves no process and no file behind. Throws Error where a tier cannot be in such a job, and
// (failed) where the system refuses. No other thread may run in the calling process.
DrillOutcome run_drill(const Drill& drill);

}  // namespace windtunnel
