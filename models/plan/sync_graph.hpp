// Who is a neighbour of whom by gossip (models/plan/sync_level.hpp).
#pragma once

#include <vector>

#include "models/plan/sync_level.hpp"

namespace windtunnel {

// How far behind an island, numbered in a ring of so many, its neighbours in a graph are.
std::vector<int> graph_distances(SyncGraph graph, int islands);

}  // namespace windtunnel
