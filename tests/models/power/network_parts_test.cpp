#include "models/power/network_parts.hpp"

#include <gtest/gtest.h>

#include "models/base/random.hpp"
#include "tests/models/power/watts.hpp"

namespace windtunnel {
namespace {

NetworkKit kit_of(int ports) {
  return {"a", ports, 50e9, watts(700), watts(30000), watts(8), watts(500)};
}

Cluster cluster_of(Topology topology, int nodes, int nics, int pod = 0) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.node.gpus = cluster.node.nics = nics;
  cluster.node.nic_Bps = watts(50e9);
  cluster.fabric.topology = topology;
  cluster.fabric.nodes_per_pod = pod;
  return cluster;
}

NetworkParts parts_of(const Cluster& cluster, int ports) {
  return network_parts(cluster, kit_of(ports), cluster.nodes);
}

// t tiers of full bisection have (2 t - 1) n / k switches and t n cables.
TEST(NetworkParts, FullBisectionByTiers) {
  for (const auto& [nodes, switches, cables] :
       {std::tuple{8, 1, 64}, std::tuple{256, 3 * 2048 / 64, 2 * 2048},
        std::tuple{4096, 5 * 32768 / 64, 3 * 32768}}) {
    const NetworkParts parts = parts_of(cluster_of(Topology::rail_fat_tree, nodes, 8), 64);
    EXPECT_EQ(parts.switches, switches) << nodes;
    EXPECT_EQ(parts.cables, cables) << nodes;
  }
}

// These networks' parts were published: a zone of Fire-Flyer 2 has 800 ports on 40-port switches in
// two layers, 20 spines and 40 leaves (arXiv 2408.14158); four units of a DGX SuperPOD H100 have 32
// leaves and 16 spines (RA-11333-001).
TEST(NetworkParts, PublishedTrees) {
  const NetworkParts zone = parts_of(cluster_of(Topology::fat_tree, 800, 1, 20), 40);
  EXPECT_EQ(zone.switches, 60);
  EXPECT_EQ(zone.cables, 1600);
  const NetworkParts pod = parts_of(cluster_of(Topology::rail_fat_tree, 128, 8, 32), 64);
  EXPECT_EQ(pod.switches, 48);
  EXPECT_EQ(pod.cables, 2048);
}

// 32,768 GPUs are in domains of 256, whose rails have two tiers, or one: a rail-only network has no
// switches between rails (arXiv 2307.12169).
TEST(NetworkParts, RailsAloneLeaveTheirSpinesOut) {
  const NetworkParts joined = parts_of(cluster_of(Topology::rail_fat_tree, 128, 256), 64);
  const NetworkParts alone = parts_of(cluster_of(Topology::rail_only, 128, 256), 64);
  EXPECT_EQ(joined.switches, 2560);
  EXPECT_EQ(joined.cables, 98304);
  EXPECT_EQ(alone.switches, 1536);
  EXPECT_EQ(alone.cables, 65536);
  const NetworkParts one_tier = parts_of(cluster_of(Topology::rail_only, 64, 256), 64);
  EXPECT_EQ(one_tier.switches, 256);
  EXPECT_EQ(one_tier.cables, 64 * 256);
}

TEST(NetworkParts, OtherForms) {
  Cluster torus = cluster_of(Topology::torus, 64, 1);
  torus.fabric.dimensions = {4, 8, 2};
  EXPECT_EQ(parts_of(torus, 64).switches, 0);
  EXPECT_EQ(parts_of(torus, 64).cables, 64 + 64 + 32);
  Cluster dragonfly = cluster_of(Topology::dragonfly, 64, 4);
  dragonfly.fabric.nodes_per_router = 4;
  dragonfly.fabric.routers_per_group = 8;
  dragonfly.fabric.local_Bps = watts(50e9);
  dragonfly.fabric.global_Bps = watts(200e9);
  EXPECT_EQ(parts_of(dragonfly, 64).switches, 16);
  EXPECT_EQ(parts_of(dragonfly, 64).cables, 256 + 2 * 28 + 4);
  Cluster graph = cluster_of(Topology::graph, 2, 1);
  graph.fabric.edges = {{"node 0", "a", 50e9}, {"node 1", "a", 50e9}, {"a", "b", 100e9}};
  EXPECT_EQ(parts_of(graph, 64).switches, 2);
  EXPECT_EQ(parts_of(graph, 64).cables, 4);
  EXPECT_EQ(parts_of(cluster_of(Topology::fat_tree, 1, 8), 64).switches, 0);
}

Cluster random_tree(RandomStream& random) {
  const auto pick = [&](std::vector<int> from) { return from[random.below(from.size())]; };
  const Topology topology = std::vector{Topology::rail_fat_tree, Topology::fat_tree,
                                        Topology::rail_only, Topology::clos}[random.below(4)];
  Cluster cluster =
      cluster_of(topology, 2 + random.below(2000), pick({1, 2, 4, 8}), pick({0, 4, 20, 32, 384}));
  cluster.fabric.pod_oversubscription = pick({1, 1, 2, 7});
  if (topology == Topology::clos) {
    cluster.fabric.nodes_per_leaf = pick({1, 2, 4});
    cluster.fabric.leaf_oversubscription = pick({1, 2});
  }
  return cluster;
}

// Each end of a cable is plugged into a NIC or a switch port, and every NIC has a cable. More nodes
// never need fewer parts, and thinner uplinks never more.
TEST(NetworkParts, EveryCableHasItsPorts) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    RandomStream random(seed, RandomPurpose::test, 31);
    Cluster cluster = random_tree(random);
    const int ports = random.below(2) == 0 ? 40 : 64;
    const double nics = cluster.nodes * cluster.node.nics;
    const NetworkParts parts = parts_of(cluster, ports);
    EXPECT_GE(parts.switches, nics / ports) << seed;
    EXPECT_GE(parts.cables, nics) << seed;
    EXPECT_LE(2 * parts.cables - nics, parts.switches * ports + 2) << seed;
    Cluster larger = cluster;
    larger.nodes *= 2;
    EXPECT_GE(parts_of(larger, ports).switches, parts.switches * (1 - 1e-9)) << seed;
    EXPECT_GE(parts_of(larger, ports).cables, parts.cables * (1 - 1e-9)) << seed;
    cluster.fabric.pod_oversubscription *= 2;
    if (cluster.fabric.nodes_per_pod > 0) {
      EXPECT_LE(parts_of(cluster, ports).cables, parts.cables * (1 + 1e-9)) << seed;
    }
  }
}

TEST(NetworkParts, RailsAloneCostNoMoreButForASwitchOfEachTier) {
  for (int nodes = 2; nodes < 3000; nodes += 1 + nodes / 7) {
    const NetworkKit kit = kit_of(64);
    for (const int pod : {0, 32}) {
      const auto usd = [&](Topology topology) {
        return network_usd(parts_of(cluster_of(topology, nodes, 8, pod), 64), kit);
      };
      // The excess is a partly used switch in each tier at most.
      EXPECT_LE(usd(Topology::rail_only), usd(Topology::rail_fat_tree) + 3 * kit.switch_usd.value)
          << nodes << " " << pod;
    }
  }
}

}  // namespace
}  // namespace windtunnel
