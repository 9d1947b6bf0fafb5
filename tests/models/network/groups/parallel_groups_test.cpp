#include "models/network/groups/parallel_groups.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/models/cost/cost_fixtures.hpp"
#include "tests/support/shuffled_places.hpp"

namespace windtunnel {
namespace {

// Computes the shape by its definition, from every group.
GroupShape worst_of_all(int size, int ranks, const Cluster& cluster) {
  std::vector<std::int32_t> group(size);
  std::iota(group.begin(), group.end(), 0);
  GroupShape worst = group_shape(group, cluster);
  for (int start = size; start < ranks; start += size) {
    std::iota(group.begin(), group.end(), start);
    worst = worse(worst, group_shape(group, cluster));
  }
  return among_concurrent(worst, cluster);
}

TEST(ParallelGroups, PeriodicSearchFindsTheWorstExpertGroup) {
  for (const int nodes : {12, 26}) {
    for (const int nodes_per_pod : {0, 4, 5}) {
      for (const int gpus_per_node : {4, 6, 8}) {
        Cluster cluster = test_cluster(nodes);
        cluster.node.gpus = gpus_per_node;
        cluster.fabric.nodes_per_pod = nodes_per_pod;
        for (const bool degraded : {false, true}) {
          if (degraded) cluster.degraded_nics = {{.node = nodes - 2, .nic = 1, .factor = 0.5}};
          for (const int ep : {2, 4, 8, 12, 24}) {
            Layout layout{.ep = ep};
            layout.dp = cluster.gpus() / ep * ep;
            EXPECT_EQ(expert_group_shape(layout, cluster), worst_of_all(ep, layout.dp, cluster))
                << nodes << " nodes of " << gpus_per_node << ", pods of " << nodes_per_pod
                << ", ep " << ep << (degraded ? ", degraded" : "");
          }
        }
      }
    }
  }
}

TEST(ParallelGroups, OfNodesAnywhere) {
  for (int i = 0; i < 30; ++i) {
    RandomStream random(6, RandomPurpose::test, i);
    Cluster cluster = test_cluster(12);
    cluster.fabric.nodes_per_pod = 4;
    cluster.degraded_nics = {{.node = 3, .nic = 1, .factor = 0.5}};
    shuffle_places(random, i % 3, cluster);
    for (const int ep : {2, 4, 8, 12, 24}) {
      EXPECT_EQ(expert_group_shape({.dp = 96, .ep = ep}, cluster), worst_of_all(ep, 96, cluster))
          << i << ", ep " << ep;
    }
  }
}

// If 64 of 72 GPUs of an NVLink domain are used, the groups of 64 expert ranks never leave a
// domain.
TEST(ParallelGroups, ExpertsInsideARackStayOnNvlink) {
  Cluster cluster = test_cluster(4);
  cluster.node.gpus = 64;
  EXPECT_EQ(expert_group_shape({.dp = 256, .ep = 64}, cluster).nodes, 1);
  cluster.node.gpus = 8;
  cluster.nodes = 32;
  EXPECT_EQ(expert_group_shape({.dp = 256, .ep = 64}, cluster).nodes, 8);
}

// If tp slices experts, the members of their groups are tp x cp ranks apart.
TEST(ParallelGroups, GroupsOfSlicedExpertsReachOverNodes) {
  const Cluster cluster = test_cluster(8);
  Layout layout{.tp = 4, .dp = 16, .ep = 8};
  EXPECT_EQ(expert_group_shape(layout, cluster).nodes, 1);
  layout.ep_tokens = ExpertTokens::gathered;
  EXPECT_EQ(expert_group_shape(layout, cluster).nodes, 4);
  EXPECT_EQ(expert_group_shape(layout, cluster).members_per_node, 2);
  layout.cp = 2;
  layout.dp = 8;
  EXPECT_EQ(expert_group_shape(layout, cluster).nodes, 8);
  EXPECT_EQ(expert_group_shape(layout, cluster).members_per_node, 1);
}

TEST(ParallelGroups, TensorGroupsMaySpanNodes) {
  const Cluster cluster = test_cluster(4);
  EXPECT_EQ(tensor_group_shape({.tp = 4, .dp = 8}, cluster).nodes, 1);
  const GroupShape wide = tensor_group_shape({.tp = 16, .dp = 2}, cluster);
  EXPECT_EQ(wide.nodes, 2);
  EXPECT_EQ(wide.members_per_node, 8);
  EXPECT_EQ(tensor_group_shape({.dp = 32}, cluster).members, 1);
}

// A group has four members of the eight GPUs of each node, but only one of them sends to the next
// node.
TEST(ParallelGroups, ARingLeavesANodeThroughOneMember) {
  const Cluster cluster = test_cluster(2);
  const GroupShape ring = context_ring_shape({.tp = 2, .cp = 8}, cluster);
  EXPECT_EQ(ring.members, 8);
  EXPECT_EQ(ring.nodes, 2);
  EXPECT_EQ(ring.members_per_node, 1);
  EXPECT_EQ(ring.concurrent_per_node, 2);
}

}  // namespace
}  // namespace windtunnel
