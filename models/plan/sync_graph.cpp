#include "models/plan/sync_graph.hpp"

namespace windtunnel {

std::vector<int> graph_distances(SyncGraph graph, int islands) {
  std::vector<int> distances;
  switch (graph) {
    case SyncGraph::ring:
      if (islands > 1) distances.push_back(1);
      if (islands > 2) distances.push_back(islands - 1);
      break;
    case SyncGraph::exponential:
      for (int distance = 1; distance < islands; distance *= 2) distances.push_back(distance);
      break;
    case SyncGraph::random:
      for (int distance = 1; distance < islands; ++distance) distances.push_back(distance);
      break;
  }
  return distances;
}

}  // namespace windtunnel
