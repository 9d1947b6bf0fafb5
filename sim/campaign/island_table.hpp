// What a campaign knows of islands of replicas that fail independently
// (models/plan/sync_level.hpp): the nodes of each island, when islands exchange, and how long a
// restarting island reads from the others. docs/physics/campaign.md, "Islands".
#pragma once

#include <cstdint>
#include <vector>

namespace windtunnel {

// A level of synchronisation. Levels are ordered from the innermost one. An exchange is due every
// cycle_steps; its result is applied delay_steps later.
struct IslandLevel {
  int members = 2;  // number of consecutive islands in a group that exchanges
  double cycle_steps = 1;
  int delay_steps = 0;
  double exchange_s = 0;
  int missing = 0;      // number of members for which an exchange does not wait
  double stream_s = 0;  // time to copy another island's state within the group
  // false: each island exchanges with the islands that it meets. None waits, and a late island
  // misses nothing.
  bool together = true;

  // Returns the step before which exchange `k` begins. Exchange 0 is the common start.
  std::int64_t step_of(std::int64_t k) const {
    return static_cast<std::int64_t>(static_cast<double>(k) * cycle_steps + 1e-9);
  }
  // Returns the last exchange that begins before this step or an earlier one.
  std::int64_t exchange_by(std::int64_t step) const {
    return static_cast<std::int64_t>((static_cast<double>(step) + 1 - 1e-6) / cycle_steps);
  }
};

struct IslandTable {
  std::vector<int> of_node;  // [node] its island; empty: the job has no independent islands
  int count = 1;
  int fragments = 1;  // of the innermost level: parts of the model that are exchanged in turn
  std::vector<IslandLevel> levels;
  // [nodes out - 1] Step time of an island that goes on in another layout without these nodes,
  // relative to a complete island. If more nodes are out, or if this is empty, the island waits.
  std::vector<double> smaller_pace;
  bool own_parts = false;  // each island has private parameters (sync.*.parameters: dense)
  // Number of modules of the second half of the layers (sync.*.paths). Island i has module i /
  // far_modules of the first half, i % far_modules of the second. 0: all islands have the same.
  int far_modules = 0;

  bool has_islands() const { return count > 1; }
};

}  // namespace windtunnel
