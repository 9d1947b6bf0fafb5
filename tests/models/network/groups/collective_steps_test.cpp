#include "models/network/groups/collective_steps.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/models/network/collective_fixtures.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using K = CollectiveKind;
using A = CollectiveAlgorithm;

constexpr double kBytes = 1e9;
constexpr double kNic = kNic_Bps * 0.9;
constexpr double kNvlink = kNvlink_Bps * 0.85;
constexpr double kLaunch = 4e-6;
constexpr double kNodeStep = 1e-6;
constexpr double kNetStep = 5e-6;

// --- by hand ------------------------------------------------------------------------------------

TEST(CollectiveAlgorithms, RecursiveDoublingByHand) {
  const Cluster cluster = make_cluster(16);
  // All bytes are exchanged three times inside the node, then four times between nodes by all eight
  // NICs.
  EXPECT_NEAR(closed_time(K::all_reduce, A::recursive_doubling, strided(128, 1), kBytes, cluster),
              kLaunch + 3 * kNodeStep + 4 * kNetStep + 3 * kBytes / kNvlink + 4 * kBytes / kNic,
              1e-12);
  // With six nodes, two hand all their data to a neighbour first, and get the result back.
  EXPECT_NEAR(closed_time(K::all_reduce, A::recursive_doubling, strided(6, 8), kBytes, cluster),
              kLaunch + (2 + 2) * kNetStep + (2 + 1) * kBytes / kNic, 1e-12);
}

TEST(CollectiveAlgorithms, HalvingDoublingByHand) {
  const Cluster cluster = make_cluster(16);
  EXPECT_NEAR(closed_time(K::all_reduce, A::halving_doubling, strided(16, 8), kBytes, cluster),
              kLaunch + 8 * kNetStep + 2 * 15.0 / 16 * kBytes / kNic, 1e-12);
  EXPECT_NEAR(closed_time(K::all_reduce, A::halving_doubling, strided(128, 1), kBytes, cluster),
              kLaunch + 6 * kNodeStep + 8 * kNetStep + 2 * 7.0 / 8 * kBytes / kNvlink +
                  2 * 15.0 / 16 * kBytes / 8 / kNic,
              1e-12);
  EXPECT_NEAR(closed_time(K::all_reduce, A::halving_doubling, strided(6, 8), kBytes, cluster),
              kLaunch + (4 + 2) * kNetStep + (2 * 3.0 / 4 + 1) * kBytes / kNic, 1e-12);
  EXPECT_NEAR(closed_time(K::all_gather, A::halving_doubling, strided(8, 1), kBytes, cluster),
              kLaunch + 3 * kNodeStep + 7.0 / 8 * kBytes / kNvlink, 1e-12);
}

// With one GPU per node no message stays in a node; in a single node none leaves it.
TEST(CollectiveAlgorithms, DirectExchangesTakeStepsOnlyWhereMessagesGo) {
  const Cluster cluster = make_cluster(16);
  EXPECT_NEAR(closed_time(K::all_to_all, A::direct, strided(16, 8), kBytes, cluster),
              kLaunch + kNetStep + 15.0 / 16 * kBytes / kNic, 1e-12);
  EXPECT_NEAR(closed_time(K::all_to_all, A::direct, strided(8, 1), kBytes, cluster),
              kLaunch + kNodeStep + 7.0 / 8 * kBytes / kNvlink, 1e-12);
}

TEST(CollectiveAlgorithms, NvlsByHand) {
  const Cluster cluster = make_cluster(4);
  // The switch reads S from every port and writes S/8 to it, and then reads S/8 and writes S.
  EXPECT_NEAR(closed_time(K::all_reduce, A::nvls, strided(8, 1), kBytes, cluster),
              kLaunch + 2 * kNodeStep + 9.0 / 8 * kBytes / kNvlink, 1e-12);
  EXPECT_NEAR(closed_time(K::all_gather, A::nvls, strided(8, 1), kBytes, cluster),
              kLaunch + kNodeStep + kBytes / kNvlink, 1e-12);
  EXPECT_NEAR(closed_time(K::all_reduce, A::nvls, strided(32, 1), kBytes, cluster),
              kLaunch + 2 * kNodeStep + 6 * kNetStep + 2 * 3.0 / 4 * kBytes / 8 / kNic, 1e-12);
  EXPECT_NEAR(closed_time(K::all_reduce, A::nvls_tree, strided(32, 1), kBytes, cluster),
              kLaunch + 2 * kNodeStep + 4 * kNetStep + 2 * kBytes / 8 / kNic, 1e-12);
}

// With two nodes S leaves each node, instead of 2 S (n-1)/n as in a ring over all GPUs.
TEST(CollectiveAlgorithms, NvlsHalvesWhatLeavesOneOfTwoNodes) {
  const GroupShape shape = group_shape(strided(16, 1), make_cluster(2));
  const auto leaves = [&](CollectiveAlgorithm algorithm) {
    const CollectiveSteps steps = steps_of(K::all_reduce, algorithm, shape, kBytes);
    return 8 * port_share(steps.across, 2) * steps.across_bytes;
  };
  EXPECT_NEAR(leaves(A::ring), 2 * 15.0 / 16 * kBytes, 1);
  for (const auto algorithm : {A::nvls, A::nvls_tree, A::tree, A::hierarchical}) {
    EXPECT_NEAR(leaves(algorithm), kBytes, 1) << to_string(algorithm);
  }
}

TEST(CollectiveAlgorithms, CollnetByHand) {
  Cluster cluster = make_cluster(64);
  cluster.fabric.hop_latency_s = parameter(3e-7);
  cluster.fabric.nodes_per_pod = 16;
  const double bytes = 64e9;
  // Data pass through a leaf, a spine and another leaf once; every NIC carries an eighth of the
  // buffer.
  EXPECT_NEAR(closed_time(K::all_reduce, A::collnet_direct, strided(512, 1), bytes, cluster),
              kLaunch + 2 * kNodeStep + kNetStep + 3 * 3e-7 + 2 * 7.0 / 8 * bytes / kNvlink, 1e-9);
  EXPECT_NEAR(closed_time(K::all_reduce, A::collnet_chain, strided(64, 8), bytes, cluster),
              kLaunch + kNetStep + 3 * 3e-7 + bytes / kNic, 1e-9);
}

TEST(CollectiveAlgorithms, PatByHand) {
  const Cluster cluster = make_cluster(16);
  for (const auto kind : {K::all_gather, K::reduce_scatter}) {
    EXPECT_NEAR(closed_time(kind, A::pat, strided(16, 8), kBytes, cluster),
                kLaunch + 4 * kNetStep + 15.0 / 16 * kBytes / kNic, 1e-12);
    EXPECT_NEAR(closed_time(kind, A::pat, strided(11, 8), kBytes, cluster),
                kLaunch + 4 * kNetStep + 10.0 / 11 * kBytes / kNic, 1e-12);
  }
}

TEST(CollectiveAlgorithms, DirectAndPairwiseDifferInSteps) {
  const Cluster cluster = make_cluster(16);
  const double transfer_s = 15.0 / 16 * kBytes / kNic;
  EXPECT_NEAR(closed_time(K::all_to_all, A::pairwise, strided(128, 1), kBytes, cluster),
              kLaunch + 7 * kNodeStep + 15 * kNetStep + transfer_s, 1e-12);
  EXPECT_NEAR(closed_time(K::all_to_all, A::direct, strided(128, 1), kBytes, cluster),
              kLaunch + kNodeStep + kNetStep + transfer_s, 1e-12);
}

TEST(CollectiveKinds, ReduceGatherAndShiftByHand) {
  const Cluster cluster = make_cluster(4);
  const auto time = [&](CollectiveKind kind, const std::vector<std::int32_t>& gpus) {
    return closed_time(kind, A::automatic, gpus, kBytes, cluster);
  };
  EXPECT_EQ(time(K::reduce, strided(32, 1)), time(K::broadcast, strided(32, 1)));
  EXPECT_NEAR(time(K::reduce, strided(4, 8)), kLaunch + 3 * kNetStep + kBytes / kNic, 1e-12);
  // All but the root's node send their shares through its one NIC.
  EXPECT_NEAR(time(K::gather, strided(32, 1)),
              kLaunch + kNodeStep + kNetStep + 24.0 / 32 * kBytes / kNic, 1e-12);
  EXPECT_NEAR(time(K::gather, strided(8, 1)), kLaunch + kNodeStep + 7.0 / 8 * kBytes / kNvlink,
              1e-12);
  // One member of each node sends S to the next node.
  EXPECT_NEAR(time(K::send_recv, strided(32, 1)), kLaunch + kNodeStep + kNetStep + kBytes / kNic,
              1e-12);
  EXPECT_NEAR(time(K::send_recv, strided(8, 1)), kLaunch + kNodeStep + kBytes / kNvlink, 1e-12);
}

// Fire-Flyer's node has 8 GPUs on PCIe and one NIC. The NIC of an inner node of the trees carries 2
// S, and its host memory 24 S.
TEST(CollectiveAlgorithms, HfreduceByHand) {
  Cluster cluster = make_cluster(16, 8, 1);
  cluster.node.nic_Bps = parameter(25e9);
  cluster.node.host_memory_Bps = parameter(320e9);
  const auto gpus = strided(128, 1);
  const double steps_s = kLaunch + 2 * kNodeStep + 8 * kNetStep;
  EXPECT_NEAR(closed_time(K::all_reduce, A::hfreduce, gpus, kBytes, cluster),
              steps_s + std::max(2 * kBytes / (25e9 * 0.9), 24 * kBytes / (320e9 * 0.7)), 1e-9);
  cluster.node.host_memory_Bps = parameter(1e15);
  EXPECT_NEAR(closed_time(K::all_reduce, A::hfreduce, gpus, kBytes, cluster),
              steps_s + 2 * kBytes / (25e9 * 0.9), 1e-9);
  // A single node only sums: 8 copies in, 8 reads, one write and two reads of S.
  EXPECT_NEAR(closed_time(K::all_reduce, A::hfreduce, strided(8, 1), kBytes, make_cluster(1)),
              kLaunch + 2 * kNodeStep + 19 * kBytes / (kHostMemory_Bps * 0.7), 1e-9);
}

// Gradients are copied to the host and back, so that a root port carries twice their bytes.
TEST(CollectiveAlgorithms, HfreduceThroughASharedRootPort) {
  Cluster cluster = make_cluster(1);
  cluster.node.root_port_Bps = parameter(18.75e9);
  const auto gpus = strided(8, 1);
  const double closed_s = closed_time(K::all_reduce, A::hfreduce, gpus, kBytes, cluster);
  const double efficiency = 0.8;
  EXPECT_NEAR(closed_s, kLaunch + 2 * kNodeStep + 2 * kBytes / efficiency / 18.75e9, 1e-9);
  cluster.node.root_port_Bps = parameter(1e15);
  EXPECT_LT(closed_time(K::all_reduce, A::hfreduce, gpus, kBytes, cluster), closed_s);
}

// The GPU's PCIe link carries the bytes of its neighbours in the ring and those of the NIC.
TEST(CollectiveAlgorithms, WithoutNvlinkThePcieLinkCarriesBoth) {
  Cluster cluster = make_cluster(4);
  cluster.node.gpu_path = GpuPath::pcie;
  const double n = 32;
  const double payload = 2 * (n - 1) / n * kBytes;
  EXPECT_NEAR(closed_time(K::all_reduce, A::ring, strided(32, 1), kBytes, cluster),
              kLaunch + (62 - 6) * kNodeStep + 6 * kNetStep +
                  (payload / 0.8 + payload / 8 / 0.9) / kPcie_Bps,
              1e-9);
  // The host bridge carries the bytes of all eight edges.
  cluster.node.host_bridge_Bps = parameter(100e9);
  EXPECT_NEAR(closed_time(K::all_reduce, A::ring, strided(8, 1), kBytes, cluster),
              kLaunch + 14 * kNodeStep + 8 * 2 * 7.0 / 8 * kBytes / (100e9 * 0.8), 1e-9);
}

// --- which apply --------------------------------------------------------------------------------

TEST(CollectiveAlgorithms, WhatDoesNotApplySaysWhy) {
  const Cluster cluster = make_cluster(4);
  const GroupShape rail = group_shape(strided(4, 8), cluster);
  EXPECT_EQ(why_not(K::all_reduce, A::tree, rail, cluster), nullptr);
  EXPECT_EQ(error_of([&] { require_algorithm(K::all_reduce, A::nvls, rail, cluster); }),
            "all-reduce by nvls needs several members on every node; this group has 4 members on 4 "
            "nodes; possible algorithms: ring, tree, recursive-doubling, halving-doubling, "
            "collnet-direct, collnet-chain, hfreduce");
  EXPECT_NE(why_not(K::broadcast, A::tree, rail, cluster), nullptr);
  Cluster ethernet = cluster;
  ethernet.fabric.transport = Transport::roce;
  EXPECT_NE(why_not(K::all_reduce, A::collnet_chain, rail, ethernet), nullptr);
  Cluster islands = cluster;
  islands.fabric.topology = Topology::sites;
  islands.fabric.sites.assign(2, {.name = "", .nodes = 2});
  EXPECT_EQ(why_not(K::all_reduce, A::collnet_chain, rail, islands), nullptr);
  islands.fabric.sites[1].transport = Transport::roce;
  EXPECT_NE(why_not(K::all_reduce, A::collnet_chain, rail, islands), nullptr);
  const GroupShape irregular = group_shape(strided(20, 1), cluster);
  EXPECT_EQ(why_not(K::all_reduce, A::ring, irregular, cluster), nullptr);
  EXPECT_NE(why_not(K::all_reduce, A::tree, irregular, cluster), nullptr);
}

TEST(CollectiveAlgorithms, TheUsualOneAlwaysApplies) {
  const Cluster cluster = make_cluster(4);
  for (int k = 0; k <= static_cast<int>(K::send_recv); ++k) {
    const auto kind = static_cast<CollectiveKind>(k);
    EXPECT_EQ(algorithms_of(kind).front(), usual_algorithm(kind));
    for (const auto& gpus : {strided(20, 1), strided(4, 8), strided(8, 1)}) {
      const GroupShape shape = group_shape(gpus, cluster);
      EXPECT_EQ(why_not(kind, usual_algorithm(kind), shape, cluster), nullptr);
    }
  }
}

// --- uneven all-to-alls -------------------------------------------------------------------------

TEST(AllToAllV, EqualSizesAreAnAllToAll) {
  const Cluster cluster = make_cluster(4);
  const Calibration calibration = make_calibration();
  for (const auto& gpus : {strided(32, 1), strided(8, 1), strided(4, 8)}) {
    const std::vector<double> sizes(gpus.size() * gpus.size(),
                                    kBytes / static_cast<double>(gpus.size()));
    EXPECT_NEAR(all_to_all_v_cost(sizes, gpus, cluster, calibration).seconds,
                closed_time(K::all_to_all, A::automatic, gpus, kBytes, cluster), 1e-9);
  }
}

// One receiver gets all bytes: its NIC is the busiest port, whichever ranks send.
TEST(AllToAllV, OneHotReceiver) {
  const Cluster cluster = make_cluster(4);
  const auto gpus = strided(32, 1);
  std::vector<double> sizes(32 * 32, 0);
  for (int from = 8; from < 32; ++from) sizes[from * 32 + 3] = 1e6;
  const Calibration calibration = make_calibration();
  const CollectiveCost cost = all_to_all_v_cost(sizes, gpus, cluster, calibration);
  EXPECT_NEAR(cost.transfer_s, 24e6 / kNic, 1e-12);
  EXPECT_NEAR(fluid_time(all_to_all_v_flows(sizes, gpus, cluster, calibration), gpus, cluster),
              cost.seconds, 0.1 * cost.seconds);
}

}  // namespace
}  // namespace windtunnel
