// Which islands are neighbours in a gossip graph (models/plan/sync_level.hpp).
#pragma once

#include <vector>

#include "models/plan/sync_level.hpp"

namespace windtunnel {

// The distances along a ring of `islands` islands from an island to its neighbours in the graph.
std::vector<int> graph_distances(SyncGraph graph, int islands);

}  // namespace windtunnel
