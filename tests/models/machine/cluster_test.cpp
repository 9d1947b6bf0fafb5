#include "models/machine/cluster.hpp"

#include <gtest/gtest.h>

#include "models/machine/links/links.hpp"
#include "models/machine/pcie_rate.hpp"
#include "tests/support/pool_job.hpp"

namespace windtunnel {
namespace {

std::vector<LinkId> route_of(const LinkTable& links, int from, int to) {
  std::vector<LinkId> route;
  links.append_route(from, to, route);
  return route;
}

// A root port limits the sum of both directions, so that one direction alone may be limited by the
// link.
TEST(PcieRate, RestsOnWhatPassesLess) {
  NodeSpec node;
  node.pcie_Bps = {32e9, 32e9, 32e9, Origin::spec, "link"};
  const auto sources = [&](double root_port_Bps) {
    node.root_port_Bps = {root_port_Bps, root_port_Bps, root_port_Bps, Origin::assumed, "port"};
    return one_way_limit(node).source + " " + both_ways_limit(node).source;
  };
  EXPECT_EQ(sources(0), "link link");
  EXPECT_EQ(sources(100e9), "link link");
  EXPECT_EQ(sources(40e9), "link port");
  EXPECT_EQ(sources(20e9), "port port");
}

TEST(Pools, ShareWhatTheWorstOfThemHas) {
  const Cluster cluster = pool_job(PoolAxis::dp).cluster;
  const NodeSpec& fast = cluster.pools[0].node;
  const NodeSpec& slow = cluster.pools[1].node;
  EXPECT_EQ(cluster.node.gpu.bf16_flops.value, slow.gpu.bf16_flops.value);
  EXPECT_EQ(cluster.node.host_memory_bytes.value, fast.host_memory_bytes.value);
  EXPECT_EQ(cluster.widest_node(), fast.nics * fast.nic_Bps.value);
  EXPECT_FALSE(cluster.in_order());
}

TEST(Pools, AreWhereTheNodesOfTheJobStand) {
  const Cluster cluster = pool_job(PoolAxis::dp).cluster;  // nodes 0, 2, 1, 3
  const std::vector<int> pools = {0, 1, 0, 1};
  for (int node = 0; node < 4; ++node) {
    EXPECT_EQ(cluster.pool_of(node * 4 + 1), pools[node]);
    EXPECT_EQ(&cluster.spec_of(node), &cluster.pools[pools[node]].node);
  }
}

TEST(Pools, GiveTheirLinksTheirBandwidth) {
  const Cluster cluster = pool_job(PoolAxis::pp).cluster;
  const LinkTable links(cluster);
  const auto narrowest = [&](int from, int to) {
    double least_Bps = 1e300;
    for (const LinkId link : route_of(links, from, to)) {
      least_Bps = std::min(least_Bps, links.capacity(link));
    }
    return least_Bps;
  };
  EXPECT_EQ(narrowest(0, 1), cluster.pools[0].node.nvlink_Bps.value);
  EXPECT_EQ(narrowest(8, 9), cluster.pools[1].node.nvlink_Bps.value);
  EXPECT_EQ(narrowest(0, 4), cluster.pools[0].node.nic_Bps.value);
  EXPECT_EQ(narrowest(0, 8), cluster.pools[1].node.nic_Bps.value);
}

TEST(Pools, OfUnlikeNetworksMeetOnTheCommonOneAlone) {
  Cluster cluster = pool_job(PoolAxis::pp).cluster;
  cluster.pools[0].network = "infiniband";
  cluster.pools[1].network = "roce";
  cluster.common = {spec(3e9), spec(30e-6)};
  const LinkTable links(cluster);
  const std::vector<LinkId> across = route_of(links, 3, 8);
  ASSERT_EQ(across.size(), 2U);
  EXPECT_EQ(links.name(across[0]), "common-out 0");
  EXPECT_EQ(links.name(across[1]), "common-in 2");
  EXPECT_EQ(links.capacity(across[0]), 3e9);
  EXPECT_EQ(links.extra_latency_s(3, 8), 30e-6);
  EXPECT_EQ(links.name(route_of(links, 3, 7).front()), "nic-out 3");
}

// NICs are numbered as if every node had the largest number of NICs.
TEST(Pools, MayHaveFewerNics) {
  Cluster cluster = pool_job(PoolAxis::pp).cluster;
  cluster.pools[1].node.nics = 2;
  cluster.node = cluster.shared = shared_node(cluster.pools);
  EXPECT_EQ(nic_of(cluster, 5), 5);
  EXPECT_EQ(nic_of(cluster, 8), 8);
  EXPECT_EQ(nic_of(cluster, 9), 8);
  EXPECT_EQ(nic_of(cluster, 11), 9);
  EXPECT_EQ(nic_of(cluster, 12), 12);
}

}  // namespace
}  // namespace windtunnel
