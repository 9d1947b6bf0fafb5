#include "models/network/collectives/collective.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "models/base/error.hpp"
#include "tests/models/network/collective_fixtures.hpp"

namespace windtunnel {
namespace {

// --- closed form against values by hand ---------------------------------------------------------

TEST(CollectiveCost, RingInsideANodeByHand) {
  const Cluster cluster = make_cluster(1);
  const double bytes = 1e9;
  const double nvlink = kNvlink_Bps * 0.85;
  EXPECT_NEAR(closed_time(CollectiveKind::all_reduce, CollectiveAlgorithm::ring, strided(8, 1),
                          bytes, cluster),
              4e-6 + 14 * 1e-6 + 2 * 7.0 / 8 * bytes / nvlink, 1e-15);
  EXPECT_NEAR(closed_time(CollectiveKind::all_gather, CollectiveAlgorithm::ring, strided(8, 1),
                          bytes, cluster),
              4e-6 + 7 * 1e-6 + 7.0 / 8 * bytes / nvlink, 1e-15);
  EXPECT_NEAR(closed_time(CollectiveKind::all_to_all, CollectiveAlgorithm::automatic, strided(8, 1),
                          bytes, cluster),
              4e-6 + 7 * 1e-6 + 7.0 / 8 * bytes / nvlink, 1e-15);
  EXPECT_NEAR(closed_time(CollectiveKind::broadcast, CollectiveAlgorithm::automatic, strided(8, 1),
                          bytes, cluster),
              4e-6 + 7 * 1e-6 + bytes / nvlink, 1e-15);
}

TEST(CollectiveCost, AcrossNodesByHand) {
  const Cluster cluster = make_cluster(16);
  const auto rail = strided(16, 8);  // one GPU per node
  const auto all = strided(128, 1);  // all NICs work
  const double bytes = 1e9;
  const double nic = kNic_Bps * 0.9;
  const auto all_reduce = [&](CollectiveAlgorithm algorithm, const auto& gpus) {
    return closed_time(CollectiveKind::all_reduce, algorithm, gpus, bytes, cluster);
  };
  EXPECT_NEAR(all_reduce(CollectiveAlgorithm::ring, rail),
              4e-6 + 30 * 5e-6 + 2 * 15.0 / 16 * bytes / nic, 1e-12);
  EXPECT_NEAR(all_reduce(CollectiveAlgorithm::tree, rail), 4e-6 + 8 * 5e-6 + 2 * bytes / nic,
              1e-12);
  // There are 254 steps, 30 of them across nodes; every NIC carries an eighth of the bytes.
  EXPECT_NEAR(all_reduce(CollectiveAlgorithm::ring, all),
              4e-6 + 224 * 1e-6 + 30 * 5e-6 + 2 * 127.0 / 128 * bytes / 8 / nic, 1e-12);
  EXPECT_NEAR(all_reduce(CollectiveAlgorithm::hierarchical, all),
              4e-6 + 2 * 1e-6 + 30 * 5e-6 + 2 * 15.0 / 16 * bytes / 8 / nic, 1e-12);
  EXPECT_NEAR(
      closed_time(CollectiveKind::all_to_all, CollectiveAlgorithm::automatic, all, bytes, cluster),
      4e-6 + 7 * 1e-6 + 15 * 5e-6 + 15.0 / 16 * bytes / nic, 1e-12);
}

TEST(CollectiveCost, TwoNodesHalveWhatATreeSendsAcross) {
  // On two nodes a tree sends S out of each node, instead of 2 S (n-1)/n, as measured on pairs of
  // H100 nodes.
  const Cluster cluster = make_cluster(2);
  const double bytes = 1e9;
  EXPECT_NEAR(closed_time(CollectiveKind::all_reduce, CollectiveAlgorithm::tree, strided(2, 8),
                          bytes, cluster),
              4e-6 + 2 * 5e-6 + bytes / (kNic_Bps * 0.9), 1e-12);
}

// Each step across nodes passes one switch within a pod and three between pods; a step inside a
// node passes none.
TEST(CollectiveCost, SwitchesAddToEveryStepAcrossNodes) {
  Cluster cluster = make_cluster(16);
  cluster.fabric.nodes_per_pod = 8;
  const auto hops_s = [&](CollectiveKind kind, CollectiveAlgorithm algorithm,
                          const std::vector<std::int32_t>& gpus) {
    cluster.fabric.hop_latency_s = parameter(0);
    const double without_s = closed_time(kind, algorithm, gpus, 1e6, cluster);
    cluster.fabric.hop_latency_s = parameter(1e-6);
    return closed_time(kind, algorithm, gpus, 1e6, cluster) - without_s;
  };
  const auto all_reduce = CollectiveKind::all_reduce;
  const auto ring = CollectiveAlgorithm::ring;
  const auto tree = CollectiveAlgorithm::tree;
  EXPECT_EQ(hops_s(all_reduce, ring, strided(8, 1)), 0);
  EXPECT_NEAR(hops_s(all_reduce, ring, strided(64, 1)), 2 * 7 * 1e-6, 1e-12);
  EXPECT_NEAR(hops_s(all_reduce, ring, strided(16, 8)), 2 * 15 * 3e-6, 1e-12);
  EXPECT_NEAR(hops_s(all_reduce, tree, strided(16, 8)), 2 * 4 * 3e-6, 1e-12);
  EXPECT_NEAR(hops_s(CollectiveKind::all_gather, CollectiveAlgorithm::hierarchical, strided(64, 1)),
              7 * 1e-6, 1e-12);
  EXPECT_NEAR(hops_s(CollectiveKind::all_to_all, ring, strided(128, 1)), 15 * 3e-6, 1e-12);
}

TEST(CollectiveCost, SwitchesAreEvidenceOnlyWhereTheyMatter) {
  Cluster cluster = make_cluster(16);
  cluster.fabric.hop_latency_s = parameter(1e-6, Origin::assumed);
  Calibration calibration = make_calibration();
  calibration.nic_latency_s.origin = Origin::spec;
  const auto origin = [&](double bytes) {
    return collective_cost(CollectiveKind::all_gather, CollectiveAlgorithm::ring,
                           group_shape(strided(16, 8), cluster), bytes, cluster, calibration)
        .origin;
  };
  EXPECT_EQ(origin(8), Origin::assumed);  // latency is 15 of 94 microseconds
  EXPECT_EQ(origin(1e9), Origin::spec);
}

TEST(CollectiveCost, AMeasuredBusIsEvidenceOnlyWhereItBounds) {
  Cluster cluster = make_cluster(16);
  cluster.fabric.measured.origin = Origin::assumed;
  Calibration calibration = make_calibration();
  calibration.nic_latency_s.origin = Origin::spec;
  const auto origin = [&](double bus_Bps) {
    cluster.fabric.measured.all_gather_Bps = bus_Bps;
    return collective_cost(CollectiveKind::all_gather, CollectiveAlgorithm::ring,
                           group_shape(strided(16, 8), cluster), 1e9, cluster, calibration)
        .origin;
  };
  EXPECT_EQ(origin(1e9), Origin::assumed);
  EXPECT_EQ(origin(1e15), Origin::spec);
  EXPECT_EQ(origin(0), Origin::spec);
}

// All tp ranks of a node reduce concurrently: their groups share the NICs and, in a fat tree, the
// uplinks.
TEST(CollectiveCost, ConcurrentGroupsShareNicsAndUplinks) {
  Cluster cluster = make_cluster(16, 8, 4);
  cluster.fabric.topology = Topology::fat_tree;
  cluster.fabric.nodes_per_pod = 8;
  const auto seconds = [&](bool shared) {
    const GroupShape alone = group_shape(strided(16, 8), cluster);
    return collective_cost(CollectiveKind::all_gather, CollectiveAlgorithm::ring,
                           shared ? among_concurrent(alone, cluster) : alone, 1e9, cluster,
                           make_calibration())
        .seconds;
  };
  const double latency_s = 4e-6 + 15 * 5e-6;
  const double bytes = 15.0 / 16 * 1e9;
  EXPECT_NEAR(seconds(false), latency_s + bytes / (kNic_Bps * 0.9), 1e-12);
  EXPECT_NEAR(seconds(true), latency_s + 2 * bytes / (kNic_Bps * 0.9), 1e-12);
  // Each GPU's ring leaves a pod of 8 nodes with 4 NICs each.
  cluster.fabric.pod_oversubscription = 32;
  EXPECT_NEAR(seconds(true), latency_s + 8 * bytes / (8 * 4 * kNic_Bps * 0.9 / 32), 1e-12);
  cluster.fabric.topology = Topology::rail_fat_tree;  // two rings on a rail of 8 NICs
  EXPECT_NEAR(seconds(true), latency_s + 2 * bytes / (8 * kNic_Bps * 0.9 / 32), 1e-12);
}

TEST(CollectiveCost, AutomaticIsTheCheapestAndFlowsFollow) {
  const Cluster cluster = make_cluster(32);
  const Calibration calibration = make_calibration();
  std::vector<CollectiveAlgorithm> picked;
  for (const auto& gpus : {strided(8, 1), strided(32, 8), strided(256, 1)}) {
    const GroupShape shape = group_shape(gpus, cluster);
    for (double bytes = 8; bytes < 1e11; bytes *= 8) {
      const auto cost = [&](CollectiveAlgorithm algorithm) {
        return collective_cost(CollectiveKind::all_reduce, algorithm, shape, bytes, cluster,
                               calibration);
      };
      const CollectiveCost best = cost(CollectiveAlgorithm::automatic);
      EXPECT_EQ(best.seconds, cost(best.algorithm).seconds);
      for (const auto other : {CollectiveAlgorithm::ring, CollectiveAlgorithm::tree,
                               CollectiveAlgorithm::hierarchical}) {
        EXPECT_LE(best.seconds, cost(other).seconds);
      }
      EXPECT_EQ(collective_flows(CollectiveKind::all_reduce, CollectiveAlgorithm::automatic, gpus,
                                 bytes, cluster, calibration)
                    .algorithm,
                best.algorithm);
      picked.push_back(best.algorithm);
    }
  }
  for (const auto algorithm :
       {CollectiveAlgorithm::ring, CollectiveAlgorithm::tree, CollectiveAlgorithm::hierarchical}) {
    EXPECT_NE(std::count(picked.begin(), picked.end(), algorithm), 0) << to_string(algorithm);
  }
}

TEST(CollectiveCost, RestsOnTheNumbersThatItUses) {
  const Cluster cluster = make_cluster(2);
  const auto origin = [&](const std::vector<std::int32_t>& gpus) {
    return collective_cost(CollectiveKind::all_reduce, CollectiveAlgorithm::automatic,
                           group_shape(gpus, cluster), 1e6, cluster, make_calibration())
        .origin;
  };
  EXPECT_EQ(origin(strided(8, 1)), Origin::published);  // efficiency of NVLink
  EXPECT_EQ(origin(strided(16, 1)), Origin::assumed);   // the NIC's latency
}

TEST(CollectiveCost, MoreBytesGroupsOrDamageNeverMakeItFaster) {
  Cluster cluster = make_cluster(16);
  const auto gpus = strided(128, 1);
  GroupShape shape = group_shape(gpus, cluster);
  const auto seconds = [&](double bytes) {
    return collective_cost(CollectiveKind::all_reduce, CollectiveAlgorithm::automatic, shape, bytes,
                           cluster, make_calibration())
        .seconds;
  };
  double last_s = 0;
  for (double bytes = 1; bytes < 1e12; bytes *= 3) {
    EXPECT_GE(seconds(bytes), last_s);
    last_s = seconds(bytes);
  }
  const double alone_s = seconds(1e9);
  shape.concurrent_per_nic = 2;
  EXPECT_GT(seconds(1e9), 1.9 * alone_s);
  cluster.degraded_nics = {{.node = 5, .nic = 5, .factor = 0.25}};
  shape = group_shape(gpus, cluster);
  EXPECT_GT(seconds(1e9), 3.5 * alone_s);
}

// Two GPUs of a package exchange data at four times the bandwidth of NVLink.
TEST(CollectiveCost, PackagesByHand) {
  Cluster cluster = make_cluster(2);
  cluster.node.package_gpus = 2;
  cluster.node.package_Bps = parameter(4 * kNvlink_Bps, Origin::measured);
  const Calibration calibration = make_calibration();
  const auto cost = [&](CollectiveKind kind, const std::vector<std::int32_t>& gpus) {
    return collective_cost(kind, CollectiveAlgorithm::ring, group_shape(gpus, cluster), 1e9,
                           cluster, calibration);
  };
  const auto transfer_s = [&](CollectiveKind kind, const std::vector<std::int32_t>& gpus) {
    return cost(kind, gpus).transfer_s * 0.85 * kNvlink_Bps / 1e9;
  };
  // An all-reduce puts 2 (n - 1) / n on every port of the ring, which is as slow as its slowest
  // port.
  EXPECT_DOUBLE_EQ(transfer_s(CollectiveKind::all_reduce, {6, 7}), 1.0 / 4);
  EXPECT_DOUBLE_EQ(transfer_s(CollectiveKind::all_reduce, {5, 6}), 1);
  EXPECT_DOUBLE_EQ(transfer_s(CollectiveKind::all_reduce, strided(8, 1)), 2 * 7.0 / 8);
  // In an all-to-all six of eight parts go to other packages.
  EXPECT_DOUBLE_EQ(transfer_s(CollectiveKind::all_to_all, strided(8, 1)), 6.0 / 8);
  EXPECT_DOUBLE_EQ(transfer_s(CollectiveKind::all_to_all, {0, 2, 4, 6}), 3.0 / 4);
  // If the port inside the package is slower, it is the bound.
  cluster.node.package_Bps = parameter(kNvlink_Bps / 20);
  EXPECT_DOUBLE_EQ(transfer_s(CollectiveKind::all_to_all, strided(8, 1)), 20.0 / 8);
  // Each time has the origin of the port that limits it.
  cluster.node.nvlink_Bps.origin = Origin::assumed;
  EXPECT_EQ(cost(CollectiveKind::all_gather, {6, 7}).origin, Origin::published);
  EXPECT_EQ(cost(CollectiveKind::all_gather, {4, 6}).origin, Origin::assumed);
}

TEST(CollectiveCost, OneMemberCostsNothing) {
  const Cluster cluster = make_cluster(2);
  EXPECT_EQ(
      closed_time(CollectiveKind::all_reduce, CollectiveAlgorithm::automatic, {3}, 1e9, cluster),
      0);
  EXPECT_TRUE(collective_flows(CollectiveKind::all_reduce, CollectiveAlgorithm::ring, strided(1, 1),
                               1e9, cluster, make_calibration())
                  .edges.empty());
  EXPECT_THROW(collective_cost(CollectiveKind::all_reduce, CollectiveAlgorithm::ring, {}, -1,
                               cluster, make_calibration()),
               InternalError);
}

// --- closed form against flows -------------------------------------------------------------------

struct Placement {
  const char* name;
  Cluster cluster;
  std::vector<std::int32_t> gpus;
};

std::vector<Placement> regular_placements() {
  std::vector<Placement> placements;
  const auto add = [&](const char* name, const Cluster& cluster, std::vector<std::int32_t> gpus) {
    placements.push_back({name, cluster, std::move(gpus)});
  };
  for (const int count : {2, 3, 4, 8}) add("one node", make_cluster(1), strided(count, 1));
  for (const int nodes : {2, 3, 4, 5, 7, 16, 33}) {
    add("one rail", make_cluster(nodes), strided(nodes, 8, 3));
    if (nodes > 16) continue;
    add("whole nodes", make_cluster(nodes), strided(8 * nodes, 1));
    add("every second GPU", make_cluster(nodes), strided(4 * nodes, 2));
    add("two GPUs per NIC", make_cluster(nodes, 8, 4), strided(8 * nodes, 1));
    Cluster degraded = make_cluster(nodes);
    degraded.degraded_nics = {{.node = 1, .nic = 3, .factor = 0.4}};
    add("degraded NIC", degraded, strided(nodes, 8, 3));
  }
  for (const Topology topology : {Topology::rail_fat_tree, Topology::fat_tree}) {
    Cluster pods = make_cluster(16);
    pods.fabric.topology = topology;
    pods.fabric.nodes_per_pod = 6;  // 6, 6, 4
    pods.fabric.pod_oversubscription = 2.5;
    pods.fabric.hop_latency_s = parameter(3e-7);
    add("oversubscribed pods", pods, strided(128, 1));
    add("oversubscribed pods, one rail", pods, strided(16, 8));
  }
  return placements;
}

TEST(CollectiveFlows, AgreeWithTheClosedFormOnAnIdleNetwork) {
  for (const Placement& placement : regular_placements()) {
    for (const auto kind :
         {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
          CollectiveKind::broadcast, CollectiveKind::all_to_all}) {
      for (const auto algorithm : {CollectiveAlgorithm::ring, CollectiveAlgorithm::hierarchical,
                                   CollectiveAlgorithm::tree, CollectiveAlgorithm::automatic}) {
        const double bytes = 1e6;  // both latency and bandwidth matter
        const double closed_s =
            closed_time(kind, algorithm, placement.gpus, bytes, placement.cluster);
        const double flows_s = flow_time(kind, algorithm, placement.gpus, bytes, placement.cluster);
        // A degraded NIC may belong to a leaf of a tree: the closed form is then an upper bound.
        const bool tree = collective_flows(kind, algorithm, placement.gpus, bytes,
                                           placement.cluster, make_calibration())
                              .algorithm == CollectiveAlgorithm::tree;
        const bool bound_only = tree && !placement.cluster.degraded_nics.empty();
        if (bound_only) {
          EXPECT_GE(closed_s, flows_s * (1 - 1e-9));
        } else {
          EXPECT_NEAR(closed_s, flows_s, 1e-9 * flows_s)
              << placement.name << ", " << placement.gpus.size() << " GPUs, " << to_string(kind)
              << " " << to_string(algorithm);
        }
      }
    }
  }
}

TEST(CollectiveFlows, AgreeAtEverySize) {
  const Cluster cluster = make_cluster(8);
  for (double bytes = 8; bytes < 1e11; bytes *= 16) {
    for (const auto algorithm : {CollectiveAlgorithm::ring, CollectiveAlgorithm::hierarchical,
                                 CollectiveAlgorithm::tree}) {
      const double closed_s =
          closed_time(CollectiveKind::all_reduce, algorithm, strided(64, 1), bytes, cluster);
      EXPECT_NEAR(flow_time(CollectiveKind::all_reduce, algorithm, strided(64, 1), bytes, cluster),
                  closed_s, 1e-9 * closed_s);
    }
  }
}

// Without NVLink the NICs' traffic crosses the GPUs' PCIe links, even if these are slower than the
// NICs.
TEST(CollectiveFlows, NicsOfPcieNodesAreBehindPcie) {
  Cluster cluster = make_cluster(4);
  cluster.node.gpu_path = GpuPath::pcie;
  for (const double pcie_Bps : {20e9, kPcie_Bps}) {
    cluster.node.pcie_Bps = parameter(pcie_Bps);
    for (const auto kind : {CollectiveKind::all_reduce, CollectiveKind::all_to_all}) {
      for (const auto& gpus : {strided(32, 1), strided(4, 8)}) {
        const double closed_s = closed_time(kind, CollectiveAlgorithm::ring, gpus, 1e9, cluster);
        EXPECT_NEAR(flow_time(kind, CollectiveAlgorithm::ring, gpus, 1e9, cluster), closed_s,
                    0.1 * closed_s)
            << to_string(kind) << " " << gpus.size();
      }
    }
  }
}

TEST(CollectiveFlows, IrregularGroupsStayWithinTenPercent) {
  const Cluster cluster = make_cluster(3);
  const auto gpus = strided(20, 1);  // 8 + 8 + 4
  for (const auto kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather}) {
    const double closed_s = closed_time(kind, CollectiveAlgorithm::automatic, gpus, 1e8, cluster);
    EXPECT_NEAR(flow_time(kind, CollectiveAlgorithm::automatic, gpus, 1e8, cluster), closed_s,
                0.1 * closed_s);
  }
}

// Seven of eight members are on one node, or members fill two and a half nodes: the members of the
// emptiest node send the most bytes out.
TEST(CollectiveFlows, AnIrregularAllToAllIsBoundByItsEmptiestNode) {
  const Cluster cluster = make_cluster(3);
  std::vector<std::int32_t> lonely = strided(7, 1);
  lonely.push_back(8);
  for (const auto& gpus : {lonely, strided(20, 1)}) {
    const auto ring = CollectiveAlgorithm::ring;
    const double closed_s = closed_time(CollectiveKind::all_to_all, ring, gpus, 1e9, cluster);
    EXPECT_NEAR(flow_time(CollectiveKind::all_to_all, ring, gpus, 1e9, cluster), closed_s,
                0.01 * closed_s);
  }
}

TEST(CollectiveFlows, EveryRankGetsTheBytesOfTheFormula) {
  const Cluster cluster = make_cluster(4);
  Calibration calibration = make_calibration();
  calibration.nvlink_efficiency = calibration.nic_efficiency = parameter(1);
  const double bytes = 1e6;
  const auto total = [&](CollectiveKind kind, CollectiveAlgorithm algorithm,
                         const std::vector<std::int32_t>& gpus) {
    const auto flows = collective_flows(kind, algorithm, gpus, bytes, cluster, calibration);
    return std::accumulate(flows.edges.begin(), flows.edges.end(), 0.0,
                           [](double sum, const CollectiveEdge& edge) { return sum + edge.bytes; });
  };
  const auto node = strided(8, 1);
  const auto rail = strided(4, 8);
  EXPECT_NEAR(total(CollectiveKind::all_reduce, CollectiveAlgorithm::ring, node), 2 * 7 * bytes, 1);
  EXPECT_NEAR(total(CollectiveKind::all_reduce, CollectiveAlgorithm::tree, rail), 2 * 3 * bytes, 1);
  EXPECT_NEAR(total(CollectiveKind::broadcast, CollectiveAlgorithm::ring, rail), 3 * bytes, 1);
  EXPECT_NEAR(total(CollectiveKind::all_to_all, CollectiveAlgorithm::ring, node), 7 * bytes, 1);
  // Every pair exchanges S/n, in irregular groups too: 20 * 19 / 20 S.
  EXPECT_NEAR(total(CollectiveKind::all_to_all, CollectiveAlgorithm::ring, strided(20, 1)),
              19 * bytes, 1);
}

TEST(CollectiveFlows, TreesReachEveryNodeTwice) {
  const Cluster cluster = make_cluster(40);
  for (int nodes = 2; nodes <= 40; ++nodes) {
    const auto flows = collective_flows(CollectiveKind::all_reduce, CollectiveAlgorithm::tree,
                                        strided(nodes, 8), 1e6, cluster, make_calibration());
    EXPECT_EQ(static_cast<int>(flows.edges.size()), 4 * (nodes - 1));
    std::vector<int> degree(nodes, 0);
    for (const CollectiveEdge& edge : flows.edges) {
      ++degree[edge.source];
      EXPECT_NE(edge.source, edge.destination);
    }
    EXPECT_GE(*std::min_element(degree.begin(), degree.end()), 2);  // each node is in both trees
    EXPECT_EQ(*std::max_element(degree.begin(), degree.end()), std::min(nodes, 4));
  }
}

// A group over all GPUs of 8 nodes reaches the measured bus bandwidth; one over 4 nodes reaches
// twice that, and never more than the NICs' bandwidth. The flows have the same bound.
TEST(Collective, MeasuredBusBoundsWhatCrossesNodes) {
  Cluster cluster = make_cluster(8);
  const Calibration calibration = make_calibration();
  const double bytes = 64e9;
  const auto bus_Bps = [&](CollectiveKind kind, const std::vector<std::int32_t>& gpus) {
    const GroupShape shape = group_shape(gpus, cluster);
    const double seconds =
        collective_cost(kind, CollectiveAlgorithm::ring, shape, bytes, cluster, calibration)
            .seconds;
    const double passes = kind == CollectiveKind::all_reduce ? 2 : 1;
    return passes * (shape.members - 1) / shape.members * bytes / seconds;
  };
  cluster.fabric.measured = {100e9, 50e9, 0};
  EXPECT_NEAR(bus_Bps(CollectiveKind::all_reduce, strided(64, 1)) / 100e9, 1, 1e-2);
  EXPECT_NEAR(bus_Bps(CollectiveKind::all_gather, strided(64, 1)) / 50e9, 1, 1e-2);
  EXPECT_NEAR(bus_Bps(CollectiveKind::all_gather, strided(32, 1)) / 100e9, 1, 1e-2);
  const double nics_Bps = 8 * kNic_Bps * 0.9;
  EXPECT_NEAR(bus_Bps(CollectiveKind::reduce_scatter, strided(64, 1)) / nics_Bps, 1, 1e-2);
  cluster.fabric.measured.all_gather_Bps = 1e15;
  EXPECT_NEAR(bus_Bps(CollectiveKind::all_gather, strided(64, 1)) / nics_Bps, 1, 1e-2);

  cluster.fabric.measured.all_gather_Bps = 50e9;
  const auto gpus = strided(64, 1);
  const CollectiveFlows flows = collective_flows(
      CollectiveKind::all_gather, CollectiveAlgorithm::ring, gpus, bytes, cluster, calibration);
  EXPECT_NEAR(fluid_time(flows, gpus, cluster),
              collective_cost(CollectiveKind::all_gather, CollectiveAlgorithm::ring,
                              group_shape(gpus, cluster), bytes, cluster, calibration)
                  .seconds,
              1e-6);
}

// Uplinks may be the reason for a slow measured bus; then they limit the payload only once. The bus
// allows three tenths of the NICs. The uplinks of a pod of two nodes, a quarter of their NICs,
// would alone allow 0.45 of them.
TEST(Collective, WhatMadeTheMeasuredBusSlowIsCountedOnce) {
  Cluster cluster = make_cluster(8);
  cluster.fabric.topology = Topology::fat_tree;
  cluster.fabric.nodes_per_pod = 2;
  cluster.fabric.pod_oversubscription = 4;
  const Calibration calibration = make_calibration();
  const auto gpus = strided(64, 1);
  const double bytes = 64e9;
  const auto seconds = [&] {
    return collective_cost(CollectiveKind::all_reduce, CollectiveAlgorithm::ring,
                           group_shape(gpus, cluster), bytes, cluster, calibration)
        .transfer_s;
  };
  const double payload = 2 * 63.0 / 64 * bytes;
  const double by_uplinks_s = seconds();
  EXPECT_NEAR(by_uplinks_s, payload / (0.9 * 8 * kNic_Bps / 2), 1e-9);
  cluster.fabric.measured.all_reduce_Bps = 0.3 * 8 * kNic_Bps;
  EXPECT_NEAR(seconds(), payload / (0.3 * 8 * kNic_Bps), 1e-9);
  cluster.fabric.measured.all_reduce_Bps = 0.6 * 8 * kNic_Bps;
  EXPECT_NEAR(seconds(), by_uplinks_s, 1e-9);
}

// Two nodes are on each of two networks, which a common network with a tenth of the NICs' bandwidth
// connects: two thirds of what a node exchanges cross it.
TEST(Collective, OnlyPairsThatCrossTakeTheCommonNetwork) {
  Cluster cluster = make_cluster(4);
  cluster.fabric.topology = Topology::fat_tree;
  cluster.pools = {{.name = "a", .nodes = 2, .node = cluster.node, .network = "a"},
                   {.name = "b", .nodes = 2, .node = cluster.node, .network = "b"}};
  cluster.shared = shared_node(cluster.pools);
  cluster.common.node_Bps = parameter(0.1 * 8 * kNic_Bps);
  const Calibration calibration = make_calibration();
  const auto gpus = strided(32, 1);
  const double bytes = 32e9;
  const GroupShape shape = group_shape(gpus, cluster);
  EXPECT_DOUBLE_EQ(shape.crossing_pairs, 2.0 / 3);
  const CollectiveCost cost =
      collective_cost(CollectiveKind::all_to_all, CollectiveAlgorithm::pairwise, shape, bytes,
                      cluster, calibration);
  EXPECT_NEAR(cost.transfer_s, 8 * bytes / 2 / (0.9 * 0.1 * 8 * kNic_Bps), 1e-9);
  const CollectiveFlows flows = collective_flows(
      CollectiveKind::all_to_all, CollectiveAlgorithm::pairwise, gpus, bytes, cluster, calibration);
  EXPECT_NEAR(fluid_time(flows, gpus, cluster), cost.seconds, 1e-6);
}

}  // namespace
}  // namespace windtunnel
