// A failure for real: nodes of a trainer and a keeper process each, whose state goes to the tiers
// of a stack as training goes on; then some are killed (SIGKILL), all trainers begin anew, and the
// state comes back from the newest copy that is left. What the simulator foresees of it is asked of
// the rules that its campaigns decide by (policies/protection/snapshot_tiers.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/reliability/snapshot.hpp"
#include "policies/protection/snapshot_tiers.hpp"

namespace windtunnel {

struct Drill {
  int nodes = 1;
  std::size_t state_bytes = 0;      // of each node
  std::vector<SnapshotTier> tiers;  // by iterations
  std::int64_t iterations = 0;      // before the failure
  std::vector<int> lost_nodes;      // with trainer, keeper and what is on their disks
  std::vector<int> lost_trainers;
  std::vector<int> lost_keepers;  // and with them their trainers
  int flipped_tier = kNoTier;     // in memory: a byte of the copy of a node
  int flipped_node = -1;
};

struct DrillOutcome {
  int tier = kNoTier;  // that the state came from; kNoTier: none is left
  std::int64_t iteration = 0;
  bool intact = true;    // every byte of every node is what training makes of it
  double restore_s = 0;  // from the last kill on; measured only
};

// Of a drill that is to come.
DrillOutcome foreseen(const Drill& drill);
// Leaves no process and no file behind. Throws Error where a tier cannot be in such a job, and
// (failed) where the system refuses.
DrillOutcome run_drill(const Drill& drill);

}  // namespace windtunnel
