#include "models/network/groups/group_shape.hpp"

#include <gtest/gtest.h>

#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

std::vector<std::int32_t> strided(int count, int stride, int first = 0) {
  std::vector<std::int32_t> gpus(count);
  for (int i = 0; i < count; ++i) gpus[i] = first + i * stride;
  return gpus;
}

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
  // Eight members of node 0 and four of node 1: the first four of each talk, rail by rail.
  EXPECT_EQ(group_shape(strided(12, 1), cluster).fabric_hops, 1);
  cluster.fabric.topology = Topology::fat_tree;
  EXPECT_EQ(group_shape(strided(2, 10), cluster).fabric_hops, 1);
}

TEST(GroupShape, ConcurrentGroupsAreRoundedUp) {
  Cluster cluster = test_cluster(4);
  const auto shared = [&](int nics, const std::vector<std::int32_t>& gpus) {
    cluster.node.nics = nics;
    return among_concurrent(group_shape(gpus, cluster), cluster.node);
  };
  EXPECT_EQ(shared(8, strided(4, 8)).concurrent_per_nic, 1);
  EXPECT_EQ(shared(4, strided(4, 8)).concurrent_per_nic, 2);
  EXPECT_EQ(shared(3, strided(4, 8)).concurrent_per_nic, 3);   // 3 + 3 + 2 GPUs
  EXPECT_EQ(shared(2, strided(16, 2)).concurrent_per_nic, 2);  // two of its own among four
  EXPECT_EQ(shared(4, strided(32, 1)).concurrent_per_nic, 1);  // no other group
  EXPECT_EQ(shared(8, strided(4, 8)).concurrent_per_node, 8);
  EXPECT_EQ(shared(8, strided(16, 2)).concurrent_per_node, 2);
}

TEST(WorstShape, TakesTheWorstOfEachNumber) {
  Cluster cluster = test_cluster(10);
  cluster.fabric.nodes_per_pod = 4;  // pods of 4, 4, 2
  cluster.degraded_nics = {{.node = 9, .nic = 3, .factor = 0.5}};
  WorstShape worst(cluster);
  worst.add(strided(2, 8));      // nodes 0, 1
  worst.add(strided(2, 8, 24));  // nodes 3, 4: two pods
  EXPECT_EQ(worst.shape().nic_factor, 1);
  worst.add(strided(2, 8, 67));  // nodes 8, 9: the degraded NIC
  EXPECT_EQ(worst.shape().members, 2);
  EXPECT_EQ(worst.shape().nodes, 2);
  EXPECT_EQ(worst.shape().fabric_hops, 3);
  EXPECT_DOUBLE_EQ(worst.shape().load.ring, 1 / (4 * 50e9));  // of nodes 3, 4 only
  EXPECT_EQ(worst.shape().nic_factor, 0.5);
}

// Recognising groups that are others moved by whole nodes changes nothing.
TEST(WorstShape, IsThatOfAllGroupsTakenTogether) {
  Cluster cluster = test_cluster(30);
  cluster.fabric.nodes_per_pod = 7;
  cluster.node.package_gpus = 2;
  cluster.degraded_nics = {{.node = 11, .nic = 5, .factor = 0.5}};
  for (const int size : {2, 3, 5, 6, 12}) {
    for (const int stride : {1, 2, 8}) {
      WorstShape worst(cluster);
      GroupShape all;
      for (int block = 0; block < 240 / (size * stride); ++block) {
        for (int i = 0; i < stride; ++i) {
          const auto gpus = strided(size, stride, block * size * stride + i);
          worst.add(gpus);
          const GroupShape shape = group_shape(gpus, cluster);
          all = block + i == 0 ? shape : worse(all, shape);
        }
      }
      EXPECT_EQ(worst.shape(), all) << size << " members, every " << stride;
    }
  }
}

// Nor does recognising groups on the same nodes of a torus.
TEST(WorstShape, IsThatOfAllGroupsOfATorus) {
  Cluster cluster = test_cluster(24);
  cluster.fabric.topology = Topology::torus;
  cluster.fabric.dimensions = {4, 6};
  cluster.fabric.link_Bps = parameter(50e9);
  cluster.degraded_nics = {{.node = 11, .nic = 5, .factor = 0.5}};
  for (const int size : {2, 3, 4}) {
    for (const int stride : {1, 8}) {
      WorstShape worst(cluster);
      GroupShape all;
      for (int first = 0; first < 192; first += size * stride) {
        for (int i = 0; i < stride; ++i) {
          const auto gpus = strided(size, stride, first + i);
          worst.add(gpus);
          const GroupShape shape = group_shape(gpus, cluster);
          all = first + i == 0 ? shape : worse(all, shape);
        }
      }
      EXPECT_EQ(worst.shape(), all) << size << " members, every " << stride;
      EXPECT_EQ(all.load.ring > 0, all.nodes > 1);
    }
  }
}

}  // namespace
}  // namespace windtunnel
