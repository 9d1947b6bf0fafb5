#include "models/machine/fabrics/graph.hpp"

#include "models/base/random.hpp"
#include "models/machine/fabrics/link_faults.hpp"
#include "models/machine/links/path_choice.hpp"
#include "tests/models/machine/fabric_fixtures.hpp"

namespace windtunnel {
namespace {

std::string node(int number) {
  return fmt::format("node {}", number);
}

// Builds a fat tree of switches with k ports (Al-Fares et al. 2008): k pods of k/2 edge and k/2
// aggregation switches, k^2/4 core switches, k^3/4 nodes.
Cluster fat_tree(int k, Routing routing = Routing::ecmp) {
  const int half = k / 2;
  Cluster cluster = cluster_of(Topology::graph, k * half * half);
  cluster.fabric.routing = routing;
  std::vector<EdgeSpec>& edges = cluster.fabric.edges;
  for (int pod = 0; pod < k; ++pod) {
    for (int edge = 0; edge < half; ++edge) {
      const std::string leaf = fmt::format("edge {}.{}", pod, edge);
      for (int i = 0; i < half; ++i) {
        edges.push_back({node((pod * half + edge) * half + i), leaf, 10});
        edges.push_back({leaf, fmt::format("aggregation {}.{}", pod, i), 10});
      }
    }
    for (int i = 0; i < half * half; ++i) {
      edges.push_back(
          {fmt::format("aggregation {}.{}", pod, i / half), fmt::format("core {}", i), 10});
    }
  }
  return cluster;
}

TEST(GraphFabric, WaysOfAFatTree) {
  for (const int k : {4, 6, 8}) {
    const int half = k / 2;
    const auto links = make_graph_links(fat_tree(k));
    EXPECT_EQ(links->count(), 2 * 3 * k * half * half);
    // There is one path under the same switch, k/2 within a pod, (k/2)^2 between pods.
    EXPECT_EQ(links->paths(0, 1), 1);
    EXPECT_EQ(links->paths(0, half), half);
    EXPECT_EQ(links->paths(0, half * half), half * half);
    EXPECT_EQ(links->switch_hops(0, 1), 1);
    EXPECT_EQ(links->switch_hops(0, half), 3);
    EXPECT_EQ(links->switch_hops(0, half * half), 5);
    expect_well_formed(*links, std::min(k * half * half, 20));
  }
}

TEST(GraphFabric, RoutesByHand) {
  const auto links = make_graph_links(fat_tree(4));
  EXPECT_EQ(names_of_route(*links, 0, 1), (Names{"node 0 to edge 0.0", "edge 0.0 to node 1"}));
  EXPECT_EQ(names_of_route(*links, 0, 3, 1),
            (Names{"node 0 to edge 0.0", "edge 0.0 to aggregation 0.1",
                   "aggregation 0.1 to edge 0.1", "edge 0.1 to node 3"}));
  for (int path = 0; path < 4; ++path) {
    const Names names = names_of_route(*links, 0, 15, path);
    ASSERT_EQ(names.size(), 6U);
    EXPECT_EQ(names[2], fmt::format("aggregation 0.{} to core {}", path / 2, path));
  }
}

// In a ring without switches the nodes pass bytes on.
TEST(GraphFabric, NodesWithoutSwitches) {
  Cluster cluster = cluster_of(Topology::graph, 5);
  for (int i = 0; i < 5; ++i) cluster.fabric.edges.push_back({node(i), node((i + 1) % 5), 10});
  const auto links = make_graph_links(cluster);
  EXPECT_EQ(names_of_route(*links, 0, 2), (Names{"node 0 to node 1", "node 1 to node 2"}));
  EXPECT_EQ(names_of_route(*links, 0, 4), (Names{"node 0 to node 4"}));
  EXPECT_EQ(links->switch_hops(0, 4), 1);

  cluster = cluster_of(Topology::graph, 2);
  cluster.fabric.edges = {{"node 0", "node 1", 10}};
  EXPECT_EQ(names_of_route(*make_graph_links(cluster), 1, 0), (Names{"node 1 to node 0"}));
}

TEST(GraphFabric, NicsOfANodeOnRailsOfTheirOwn) {
  Cluster cluster = cluster_of(Topology::graph, 2, 2);
  cluster.fabric.edges = {{"node 0 nic 0", "rail 0", 10}, {"node 1 nic 0", "rail 0", 10},
                          {"node 0 nic 1", "rail 1", 10}, {"node 1 nic 1", "rail 1", 10},
                          {"rail 0", "spine", 30},        {"rail 1", "spine", 30}};
  const auto links = make_graph_links(cluster);
  EXPECT_EQ(names_of_route(*links, 0, 2),
            (Names{"node 0 nic 0 to rail 0", "rail 0 to node 1 nic 0"}));
  EXPECT_EQ(names_of_route(*links, 0, 3), (Names{"node 0 nic 0 to rail 0", "rail 0 to spine",
                                                 "spine to rail 1", "rail 1 to node 1 nic 1"}));
  cluster.fabric.edges.resize(4);
  EXPECT_EQ(fabric_message(cluster), "no path of edges joins NIC 0 of node 0 and NIC 1 of node 0");
  cluster.fabric.edges = {{"node 0 nic 0", "leaf", 10}, {"node 0 nic 1", "leaf", 10},
                          {"node 1 nic 0", "leaf", 10}, {"node 1 nic 1", "leaf", 10},
                          {"node 2 nic 0", "leaf", 10}, {"node 2 nic 1", "leaf", 10}};
  cluster.nodes = 3;
  cluster.fabric.faults = {{"node 1 nic 1 to leaf", 0}};
  EXPECT_EQ(fabric_message(cluster), "the failed links leave no path from node 1 to node 0");
}

TEST(GraphFabric, ParallelCables) {
  Cluster cluster = cluster_of(Topology::graph, 2);
  cluster.fabric.edges = {{"node 0", "a", 10}, {"a", "b", 3}, {"b", "a", 4}, {"b", "node 1", 10}};
  const auto merged = make_graph_links(cluster);
  EXPECT_EQ(merged->paths(0, 1), 1);
  EXPECT_EQ(merged->capacity(link_called(*merged, "b to a")), 7);
  cluster.fabric.routing = Routing::ecmp;
  const auto apart = make_graph_links(cluster);
  EXPECT_EQ(apart->paths(0, 1), 2);
  EXPECT_EQ(apart->capacity(link_called(*apart, "a to b")), 3);
  EXPECT_EQ(apart->capacity(link_called(*apart, "a to b cable 1")), 4);
}

TEST(GraphFabric, AFailedCableIsAvoided) {
  Cluster cluster = fat_tree(4);
  cluster.fabric.faults = {{"edge 0.0 to aggregation 0.0", 0}};
  const auto links = make_graph_links(cluster);
  EXPECT_EQ(links->paths(0, 15), 2);
  EXPECT_EQ(links->paths(15, 0), 4);
  expect_well_formed(*links, 16);
  cluster.fabric.faults = {{"edge 0.0 to node 0", 0}};
  EXPECT_EQ(fabric_message(cluster), "the failed links leave no path from node 1 to node 0");
  cluster.fabric.faults = {{"edge 0.0 to nod 0", 0}};
  EXPECT_EQ(fabric_message(cluster),
            "unknown link 'edge 0.0 to nod 0'; did you mean 'edge 0.0 to node 0'?");
}

// The search around faults and the tables of the edge list find paths of equal length.
TEST(GraphFabric, AgreesWithAPlainSearchOnRandomGraphs) {
  RandomStream random(3, RandomPurpose::test, 0);
  for (int trial = 0; trial < 20; ++trial) {
    const int nodes = 2 + static_cast<int>(random.below(10));
    const int switches = 1 + static_cast<int>(random.below(8));
    Cluster cluster = cluster_of(Topology::graph, nodes);
    cluster.fabric.routing = trial % 2 == 0 ? Routing::spray : Routing::ecmp;
    std::vector<std::vector<Step>> steps(nodes + switches);
    const auto name = [&](int v) { return v < nodes ? node(v) : fmt::format("s{}", v - nodes); };
    const auto join = [&](int a, int b) {
      cluster.fabric.edges.push_back({name(a), name(b), 10});
      steps[a].push_back({0, b});
      steps[b].push_back({0, a});
    };
    for (int s = 1; s < switches; ++s) join(nodes + s, nodes + static_cast<int>(random.below(s)));
    for (int n = 0; n < nodes; ++n) join(n, nodes + static_cast<int>(random.below(switches)));
    for (int extra = 0; extra < switches; ++extra) {
      const int a = static_cast<int>(random.below(nodes + switches));
      const int b = static_cast<int>(random.below(nodes + switches));
      if (a != b) join(a, b);
    }
    const auto links = make_graph_links(cluster);
    const StepsFrom steps_from = [&](int from, std::vector<Step>& out) {
      out.insert(out.end(), steps[from].begin(), steps[from].end());
    };
    for (int from = 0; from < nodes; ++from) {
      for (int to = 0; to < nodes; ++to) {
        if (from == to) continue;
        const size_t length = shortest_way(nodes + switches, from, to, steps_from).size();
        for (int path = 0; path < links->paths(from, to); ++path) {
          EXPECT_EQ(route_of(*links, from, to, path).size(), length);
        }
      }
    }
    expect_well_formed(*links, nodes);
  }
}

TEST(GraphFabric, WhatIsNoEdgeListOfTheCluster) {
  Cluster cluster = cluster_of(Topology::graph, 4);
  EXPECT_EQ(fabric_message(cluster), "'graph' needs 'edges', a list of cables");
  cluster.fabric.edges = {{node(0), "a", 10}, {node(1), "a", 10}, {node(2), "b", 10}};
  EXPECT_EQ(fabric_message(cluster),
            "no cable reaches NIC 0 of node 3; add e.g. {a: node 3, b: leaf, bandwidth: 400 Gb/s}");
  cluster.fabric.edges.push_back({node(3), "b", 10});
  EXPECT_EQ(fabric_message(cluster), "no path of edges joins NIC 0 of node 0 and NIC 0 of node 2");
  cluster.fabric.edges.push_back({node(4), "b", 10});
  EXPECT_EQ(fabric_message(cluster), "there is no node 4; there are 4, counted from 0");
  cluster.fabric.edges.back() = {"node 1 nic 1", "b", 10};
  EXPECT_EQ(fabric_message(cluster), "a node has no NIC 1; it has 1, counted from 0");
  cluster.fabric.edges.back() = {"node one", "b", 10};
  EXPECT_EQ(fabric_message(cluster),
            "'node one' cannot be an end of a cable; write 'node 3', 'node 3 nic 0' or the name of "
            "a switch");
  cluster.fabric.edges.back() = {"a", "a", 10};
  EXPECT_EQ(fabric_message(cluster), "a cable joins 'a' to itself; name another end");
}

// Spraying uses all paths: two spines carry twice as much as one.
TEST(GraphFabric, SprayedPacketsTakeAllWays) {
  const Cluster cluster = fat_tree(4, Routing::spray);
  const LinkTable links(cluster);
  PathChooser chooser(links);
  const std::span<const PathShare> shares = chooser.choose(0, 15, 1);
  ASSERT_EQ(shares.size(), 4U);
  std::vector<int> paths;
  for (const PathShare& share : shares) {
    EXPECT_EQ(share.share, 0.25);
    paths.push_back(share.path);
  }
  std::sort(paths.begin(), paths.end());
  EXPECT_EQ(paths, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(chooser.choose(0, 1, 1).size(), 1U);
}

// With 1,024 nodes on 64 leaves and 16 spines, only the leaves and spines are searched.
TEST(GraphFabric, ManyNodesOnFewSwitches) {
  Cluster cluster = cluster_of(Topology::graph, 1024);
  for (int i = 0; i < 1024; ++i) {
    cluster.fabric.edges.push_back({node(i), fmt::format("leaf {}", i / 16), 10});
  }
  for (int i = 0; i < 1024; ++i) {
    cluster.fabric.edges.push_back(
        {fmt::format("leaf {}", i / 16), fmt::format("spine {}", i % 16), 10});
  }
  cluster.fabric.routing = Routing::ecmp;
  const auto links = make_graph_links(cluster);
  EXPECT_EQ(links->paths(0, 15), 1);
  EXPECT_EQ(links->paths(0, 1023), 16);
}

}  // namespace
}  // namespace windtunnel
