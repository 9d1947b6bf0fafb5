#include "models/plan/sync_graph.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

TEST(SyncGraph, DistancesAreThoseOfTheGraph) {
  using Distances = std::vector<int>;
  EXPECT_EQ(graph_distances(SyncGraph::ring, 1), Distances());
  EXPECT_EQ(graph_distances(SyncGraph::ring, 2), Distances({1}));
  EXPECT_EQ(graph_distances(SyncGraph::ring, 5), Distances({1, 4}));
  EXPECT_EQ(graph_distances(SyncGraph::exponential, 9), Distances({1, 2, 4, 8}));
  EXPECT_EQ(graph_distances(SyncGraph::random, 4), Distances({1, 2, 3}));
}

}  // namespace
}  // namespace windtunnel
