#include "models/machine/fabrics/torus.hpp"

#include <array>

#include "models/base/random.hpp"
#include "tests/models/machine/fabric_fixtures.hpp"

namespace windtunnel {
namespace {

Cluster torus(std::vector<int> dimensions, Routing routing = Routing::spray) {
  int nodes = 1;
  for (const int size : dimensions) nodes *= size;
  Cluster cluster = cluster_of(Topology::torus, nodes);
  cluster.fabric.dimensions = std::move(dimensions);
  cluster.fabric.routing = routing;
  return cluster;
}

// The same torus, described by a list of cables.
Cluster torus_as_graph(const std::vector<int>& dimensions) {
  Cluster cluster = torus(dimensions);
  cluster.fabric.topology = Topology::graph;
  int stride = 1;
  for (const int size : dimensions) {
    for (int node = 0; node < cluster.nodes; ++node) {
      const int at = node / stride % size;
      if (size == 1 || (size == 2 && at == 1)) continue;
      const int next = node + ((at + 1) % size - at) * stride;
      cluster.fabric.edges.push_back(
          {fmt::format("node {}", node), fmt::format("node {}", next), 10});
    }
    stride *= size;
  }
  return cluster;
}

// Slices form the last dimension if the bandwidth of a data-centre network is stated.
TEST(Torus, SlicesAreItsLastDimension) {
  FabricSpec fabric = torus({4, 3, 2}).fabric;
  EXPECT_EQ(slices_of(fabric), 1);
  fabric.wan_Bps.value = 3e9;
  fabric.wan_latency_s.value = 1e-3;
  EXPECT_EQ(slices_of(fabric), 2);
  EXPECT_EQ(slice_of(fabric, 11), 0);
  EXPECT_EQ(slice_of(fabric, 12), 1);
  EXPECT_EQ(slice_rounds_s(fabric, 1), 0);
  EXPECT_DOUBLE_EQ(slice_rounds_s(fabric, 2), 10e-3);
  EXPECT_DOUBLE_EQ(slice_rounds_s(fabric, 5) - slice_rounds_s(fabric, 4), 1e-3);
  fabric.topology = Topology::sites;
  EXPECT_EQ(slices_of(fabric), 1);
}

TEST(Torus, RoutesByHand) {
  const auto links = make_torus_links(torus({4, 3}));
  EXPECT_EQ(links->count(), 12 * 4);
  EXPECT_EQ(names_of_route(*links, 0, 5), (Names{"torus 0 +x", "torus 1 +y"}));
  EXPECT_EQ(names_of_route(*links, 0, 3), (Names{"torus 0 -x"}));
  EXPECT_EQ(names_of_route(*links, 1, 3), (Names{"torus 1 +x", "torus 2 +x"}));  // a tie
  EXPECT_EQ(names_of_route(*links, 1, 8), (Names{"torus 1 -x", "torus 0 -y"}));
  EXPECT_EQ(links->switch_hops(1, 8), 2);
  EXPECT_EQ(links->paths(0, 5), 1);
  EXPECT_EQ(links->capacity(0), 10);  // a NIC's bandwidth
}

TEST(Torus, StatedBandwidthOfACable) {
  Cluster cluster = torus({4, 3});
  cluster.fabric.link_Bps = exactly(7);
  cluster.fabric.faults = {{"torus 2 -y", 0.5}, {"torus 2 -y", 0.5}};
  const auto links = make_torus_links(cluster);
  EXPECT_EQ(links->capacity(0), 7);
  EXPECT_EQ(links->capacity(link_called(*links, "torus 2 -y")), 7 * 0.25);
}

// In a dimension of size 2 one cable joins the two nodes, instead of two cables.
TEST(Torus, ShortDimensions) {
  const auto links = make_torus_links(torus({2, 1, 3}));
  EXPECT_EQ(links->count(), 6 * 3);
  EXPECT_EQ(names_of_route(*links, 0, 1), (Names{"torus 0 +x"}));
  EXPECT_EQ(names_of_route(*links, 1, 0), (Names{"torus 1 +x"}));
  EXPECT_EQ(names_of_route(*links, 1, 4), (Names{"torus 1 +x", "torus 0 -z"}));
}

TEST(Torus, EveryOrderOfTheDimensionsIsAWay) {
  const auto links = make_torus_links(torus({4, 4, 4}, Routing::ecmp));
  EXPECT_EQ(links->paths(0, 1 + 4 + 16), 6);
  EXPECT_EQ(links->paths(0, 1 + 16), 2);
  EXPECT_EQ(links->paths(0, 2), 1);
  EXPECT_EQ(names_of_route(*links, 0, 17, 0), (Names{"torus 0 +x", "torus 1 +z"}));
  EXPECT_EQ(names_of_route(*links, 0, 17, 1), (Names{"torus 0 +z", "torus 16 +x"}));
  expect_well_formed(*links, 64);
}

// In an all-to-all along a dimension of odd size k, the distances from a node sum to (k^2 - 1) / 4.
// They load two directions and k cables, for n sources and n / k targets at each distance.
TEST(Torus, UniformTrafficLoadsAllCablesOfADimensionAlike) {
  const auto links = make_torus_links(torus({5, 3, 7}));
  const std::vector<int> load = uniform_load(*links, 105);
  for (int link = 0; link < links->count(); ++link) {
    const int size = std::array{5, 3, 7}[link % 6 / 2];
    EXPECT_EQ(load[link], 105 / size * (size * size - 1) / 8) << links->name(link);
  }
}

// Cutting a ring in two places bisects it: 2 n / k cables are cut, in each direction.
TEST(Torus, Bisection) {
  for (const std::vector<int>& sizes : {std::vector{8, 4, 4}, std::vector{6, 5}}) {
    const Cluster cluster = torus(sizes);
    const auto links = make_torus_links(cluster);
    const int half = sizes[0] / 2;
    std::vector<char> crossing(links->count(), 0);
    for (int from = 0; from < cluster.nodes; ++from) {
      for (int to = 0; to < cluster.nodes; ++to) {
        const std::vector<int> route = route_of(*links, from, to);
        const bool crosses = from % sizes[0] < half && to % sizes[0] >= half;
        if (route.size() == 1 && crosses) crossing[route[0]] = 1;
      }
    }
    double cut_Bps = 0;
    for (int link = 0; link < links->count(); ++link) {
      if (crossing[link] != 0) cut_Bps += links->capacity(link);
    }
    EXPECT_EQ(cut_Bps, 2.0 * cluster.nodes / sizes[0] * 10);
  }
}

TEST(Torus, RandomSizesAgreeWithASearchOfTheExplicitGraph) {
  RandomStream random(1, RandomPurpose::test, 0);
  for (int trial = 0; trial < 12; ++trial) {
    std::vector<int> sizes;
    const int dimensions = 2 + static_cast<int>(random.below(3));
    for (int i = 0; i < dimensions; ++i) sizes.push_back(1 + static_cast<int>(random.below(5)));
    const Cluster cluster = torus(sizes, trial % 2 == 0 ? Routing::spray : Routing::ecmp);
    if (cluster.nodes < 2) continue;
    const auto links = make_torus_links(cluster);
    const auto graph = make_fabric_links(torus_as_graph(sizes));
    EXPECT_EQ(links->count(), graph->count());
    for (int from = 0; from < cluster.nodes; ++from) {
      for (int to = 0; to < cluster.nodes; ++to) {
        if (from == to) continue;
        const size_t hops = route_of(*graph, from, to).size();
        EXPECT_EQ(links->switch_hops(from, to), static_cast<int>(hops));
        EXPECT_EQ(route_of(*links, from, to).size(), hops);
        // Distances are symmetric: a torus looks the same from every node.
        EXPECT_EQ(links->switch_hops(to, from), static_cast<int>(hops));
      }
    }
    expect_well_formed(*links, cluster.nodes);
  }
}

TEST(Torus, AFailedCableIsAvoided) {
  Cluster cluster = torus({4, 3});
  cluster.fabric.faults = {{"torus 0 +x", 0}};
  const auto links = make_torus_links(cluster);
  // The other order of dimensions avoids the fault.
  EXPECT_EQ(names_of_route(*links, 0, 5), (Names{"torus 0 +y", "torus 4 +x"}));
  // Within one dimension there is only one order, so that the route goes around the fault.
  EXPECT_EQ(route_of(*links, 0, 1).size(), 3U);
  EXPECT_EQ(links->switch_hops(0, 1), 3);
  EXPECT_EQ(names_of_route(*links, 1, 0), (Names{"torus 1 -x"}));
  expect_well_formed(*links, 12);  // checks that no route uses the failed cable

  cluster.fabric.routing = Routing::ecmp;
  EXPECT_EQ(make_torus_links(cluster)->paths(0, 5), 1);
  EXPECT_EQ(make_torus_links(cluster)->paths(1, 6), 2);
}

TEST(Torus, WhatIsNoTorusOfTheCluster) {
  Cluster cluster = torus({2, 1});
  cluster.fabric.faults = {{"torus 0 +x", 0}};
  EXPECT_EQ(fabric_message(cluster), "the failed links leave no path from node 0 to node 1");
  cluster.fabric.faults = {{"torus 0 +y", 0}};
  EXPECT_EQ(fabric_message(cluster), "unknown link 'torus 0 +y'; did you mean 'torus 0 +x'?");
  cluster = torus({4, 3});
  cluster.nodes = 16;
  EXPECT_EQ(fabric_message(cluster), "4 x 3 make 12 nodes, fewer than the 16 of the cluster");
  cluster.fabric.dimensions = {16};
  EXPECT_EQ(fabric_message(cluster), "a torus has 2 to 6 dimensions, not 1; e.g. '[4, 4, 4]'");
  cluster.fabric.dimensions = {-4, -4};
  EXPECT_EQ(fabric_message(cluster), "a dimension of a torus must be at least 1, not -4");
}

TEST(Torus, OfAHundredThousandGpus) {
  Cluster cluster = torus({32, 32, 16});
  cluster.node.gpus = 8;
  cluster.node.nics = 8;
  const auto links = make_torus_links(cluster);
  EXPECT_EQ(cluster.gpus(), 131072);
  EXPECT_EQ(links->count(), 6 * 16384);
  EXPECT_EQ(links->switch_hops(0, 8 * 16383), 3);  // one hop in each dimension, by wrap-around
  EXPECT_EQ(route_of(*links, 0, 8 * (16 + 32 * 16 + 1024 * 8)).size(), 40U);  // a farthest node
}

}  // namespace
}  // namespace windtunnel
