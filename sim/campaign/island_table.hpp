// A campaign's data about islands of replicas that fail independently (models/plan/sync_level.hpp):
// the nodes of each island, when islands exchange, and how long a restarting island reads from the
// others. docs/physics/campaign.md, "Islands".
#pragma once

#include <cstdint>
#include <vector>

namespace windtunnel {

// A level of synchronisation; levels are ordered from the innermost. An exchange is due every
// cycle_steps; its result is applied delay_steps later.
struct IslandLevel {
  int members = 2;  // number of consecutive islands in an exchanging group
  double cycle_steps = 1;
  int delay_steps = 0;
  double exchange_s = 0;
  int missing = 0;      // members that an exchange does not wait for
  double stream_s = 0;  // time for a restarting island to copy the state of another in its group
  // false: each island exchanges with the ones that it meets; none waits, and a late one misses
  // nothing.
  bool together = true;

  // The step before which exchange `k` begins, k = 0 being the common start.
  std::int64_t step_of(std::int64_t k) const {
    return static_cast<std::int64_t>(static_cast<double>(k) * cycle_steps + 1e-9);
  }
  // The last exchange that begins before this step, or before an earlier one.
  std::int64_t exchange_by(std::int64_t step) const {
    return static_cast<std::int64_t>((static_cast<double>(step) + 1 - 1e-6) / cycle_steps);
  }
};

struct IslandTable {
  std::vector<int> of_node;  // [node] its island; empty: the job has no independent islands
  int count = 1;
  int fragments = 1;  // innermost level: parts of the model that are exchanged in turn
  std::vector<IslandLevel> levels;
  // [nodes out - 1] Step time of an island that continues in another layout without these nodes,
  // relative to a complete island. With more nodes out, or if this is empty, it waits.
  std::vector<double> smaller_pace;
  bool own_parts = false;  // each has private parameters (sync.*.parameters: dense)
  // (sync.*.paths) Number of modules of the second half of the layers. Island i has module i / far
  // of the first half and i % far of the second. 0: all islands have the same modules.
  int far_modules = 0;

  bool has_islands() const { return count > 1; }
};

}  // namespace windtunnel
