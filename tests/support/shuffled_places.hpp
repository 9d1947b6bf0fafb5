// Places a job on random nodes of a machine, for tests.
#pragma once

#include <numeric>
#include <utility>
#include <vector>

#include "models/base/random.hpp"
#include "models/machine/cluster.hpp"

namespace windtunnel {

// Gives the job random nodes of a machine that has `more` further nodes.
inline void shuffle_places(RandomStream& random, int more, Cluster& cluster) {
  std::vector<int> nodes(cluster.nodes + more);
  std::iota(nodes.begin(), nodes.end(), 0);
  for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[random.below(i)]);
  nodes.resize(cluster.nodes);
  cluster.places = std::move(nodes);
  cluster.machine_nodes = cluster.nodes + more;
}

}  // namespace windtunnel
