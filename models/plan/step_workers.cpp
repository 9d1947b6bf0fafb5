#include "models/plan/step_workers.hpp"

#include <algorithm>
#include <numeric>

namespace windtunnel {

int replicas_of_worker(const Layout& layout) {
  const int ranks = layout.tp * layout.cp;  // ranks of one replica on one stage
  int together = std::lcm(layout.ep * layout.expert_stride(), ranks);
  if (layout.sharding == Sharding::zero3) {
    together = std::lcm(together, layout.tp * std::lcm(shard_ranks(layout).optimizer, layout.cp));
    together = std::lcm(
        together, layout.ep * layout.expert_stride() * std::max(1, layout.expert_shard_ranks));
  }
  return together / ranks;
}

int step_workers(const Layout& layout) {
  const int replicas = layout.island_replicas() / layout.cp;
  return std::max(1, replicas / replicas_of_worker(layout));
}

}  // namespace windtunnel
