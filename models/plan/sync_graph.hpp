// Which islands are neighbours in a gossip graph (models/plan/sync_level.hpp).
#pragma once

#include <vector>

#include "models/plan/sync_level.hpp"

namespace windtunnel {

// The distances along a ring of `islands` islands at which an island has its neighbours.
std::vector<int> graph_distances(SyncGraph graph, int islands);

}  // namespace windtunnel
