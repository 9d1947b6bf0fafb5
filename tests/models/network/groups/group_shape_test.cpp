#include "models/network/groups/group_shape.hpp"

#include <gtest/gtest.h>

#include "tests/models/cost/cost_fixtures.hpp"
#include "tests/models/network/collective_fixtures.hpp"

namespace windtunnel {
namespace {

TEST(GroupShape, CountsNodesAndNics) {
  Cluster cluster = test_cluster(10);
  cluster.fabric.nodes_per_pod = 4;  // pods of 4, 4, 2
  const GroupShape all = group_shape(strided(80, 1), cluster);
  EXPECT_EQ(all.members_per_node, 8);
  EXPECT_EQ(all.nodes, 10);
  EXPECT_DOUBLE_EQ(all.load.ring, 1 / (2 * 50e9));  // over an uplink of the smallest pod
  EXPECT_EQ(all.members_per_nic, 1);
  EXPECT_TRUE(all.regular());

  const GroupShape rail = group_shape(strided(10, 8, 3), cluster);
  EXPECT_EQ(rail.members_per_node, 1);
  EXPECT_EQ(rail.nodes, 10);

  const GroupShape uneven = group_shape(strided(12, 1), cluster);  // 8 + 4
  EXPECT_EQ(uneven.members_per_node, 4);
  EXPECT_EQ(uneven.nodes, 2);
  EXPECT_FALSE(uneven.regular());
}

TEST(GroupShape, SharedAndDegradedNics) {
  Cluster cluster = test_cluster(4);
  cluster.node.nics = 4;  // two GPUs behind each NIC
  cluster.degraded_nics = {{.node = 2, .nic = 1, .factor = 0.5}, {2, 1, 0.5}, {3, 0, 0.1}};
  EXPECT_EQ(group_shape(strided(32, 1), cluster).members_per_nic, 2);
  const GroupShape second = group_shape(strided(4, 8, 2), cluster);  // NIC 1 of every node
  EXPECT_EQ(second.members_per_nic, 1);
  EXPECT_DOUBLE_EQ(second.nic_factor, 0.25);
  EXPECT_DOUBLE_EQ(group_shape(strided(4, 8, 7), cluster).nic_factor, 1);
}

TEST(GroupShape, ASitesNicsMayBeFaster) {
  Cluster cluster = test_cluster(4);  // of 50 GB/s
  cluster.fabric.topology = Topology::sites;
  cluster.fabric.sites.resize(2);
  for (SiteSpec& site : cluster.fabric.sites) site.nodes = 2;
  cluster.fabric.sites[0].nic_Bps = 100e9;
  cluster.fabric.wan_Bps = parameter(1e9);
  EXPECT_DOUBLE_EQ(group_shape(strided(2, 8), cluster).nic_factor, 2);
  EXPECT_DOUBLE_EQ(group_shape(strided(4, 8), cluster).nic_factor, 1);
}

TEST(GroupShape, HopsAreThoseOfTheLongestStep) {
  Cluster cluster = test_cluster(8);
  cluster.fabric.nodes_per_pod = 4;
  EXPECT_EQ(group_shape(strided(4, 8), cluster).fabric_hops, 1);
  EXPECT_EQ(group_shape(strided(32, 1), cluster).fabric_hops, 1);
  EXPECT_EQ(group_shape(strided(8, 8), cluster).fabric_hops, 3);
  // GPU 0 of node 0 and GPU 2 of node 1 are on different rails.
  EXPECT_EQ(group_shape(strided(2, 10), cluster).fabric_hops, 3);
  // Node 0 has eight members and node 1 four: the first four of each exchange data, rail by rail.
  EXPECT_EQ(group_shape(strided(12, 1), cluster).fabric_hops, 1);
  cluster.fabric.topology = Topology::fat_tree;
  EXPECT_EQ(group_shape(strided(2, 10), cluster).fabric_hops, 1);
}

TEST(GroupShape, ConcurrentGroupsAreRoundedUp) {
  Cluster cluster = test_cluster(4);
  const auto shared = [&](int nics, const std::vector<std::int32_t>& gpus) {
    cluster.node.nics = nics;
    return among_concurrent(group_shape(gpus, cluster), cluster);
  };
  EXPECT_EQ(shared(8, strided(4, 8)).concurrent_per_nic, 1);
  EXPECT_EQ(shared(4, strided(4, 8)).concurrent_per_nic, 2);
  EXPECT_EQ(shared(3, strided(4, 8)).concurrent_per_nic, 3);   // 3 + 3 + 2 GPUs per NIC
  EXPECT_EQ(shared(2, strided(16, 2)).concurrent_per_nic, 2);  // a group's two among four
  EXPECT_EQ(shared(4, strided(32, 1)).concurrent_per_nic, 1);  // no other group
  EXPECT_EQ(shared(8, strided(4, 8)).concurrent_per_node, 8);
  EXPECT_EQ(shared(8, strided(16, 2)).concurrent_per_node, 2);
}

}  // namespace
}  // namespace windtunnel
