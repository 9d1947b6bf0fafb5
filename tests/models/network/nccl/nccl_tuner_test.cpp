#include "models/network/nccl/nccl_tuner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/models/network/nccl/tuner_fixtures.hpp"

namespace windtunnel {
namespace {

using enum CollectiveAlgorithm;

// S. Jeaugey, NVIDIA (nccl-tests, issue 212): eight H100 reach 370 GB/s by rings and "a peak busBw
// of ~480 GB/s (algbw ~275 GB/s)" by NVLS. The model agrees within 3 %.
TEST(NcclTuner, BandwidthsInANode) {
  const TunerTable table = all_reduce_on(dgx_h100(), 1);
  const double factor = all_reduce_factor(8);
  EXPECT_NEAR(bus_bandwidth(table, ring, Protocol::simple, factor), 370, .03 * 370);
  EXPECT_NEAR(bus_bandwidth(table, nvls, Protocol::simple, factor), 480, .03 * 480);
  EXPECT_NEAR(bus_bandwidth(table, nvls, Protocol::simple, 1), 275, .03 * 275);
  EXPECT_NEAR(bus_bandwidth(all_reduce_on(dgx_a100(), 1), ring, Protocol::simple, factor), 240,
              1e-3);
}

// NVLSTree halves what two nodes send: NVIDIA measured 467 to 487 GB/s of bus bandwidth on 2 x 8
// H100, whose NICs carry 400 GB/s.
TEST(NcclTuner, BandwidthsBetweenNodes) {
  const double factor = all_reduce_factor(16);
  const TunerTable two = all_reduce_on(dgx_h100(), 2);
  EXPECT_NEAR(bus_bandwidth(two, nvls_tree, Protocol::simple, factor), 8 * 57.7, 1e-3);
  EXPECT_NEAR(bus_bandwidth(two, ring, Protocol::simple, factor), 8 * 48, 1e-3);
  // LL has half of the ring's bandwidth, at most 39 GB/s. A tree has half of min(b / 3.8, 39), less
  // 15 % if its parent and children are on one GPU.
  EXPECT_NEAR(bus_bandwidth(two, ring, Protocol::ll, factor), 39, 1e-3);
  EXPECT_NEAR(bus_bandwidth(two, tree, Protocol::ll, 1), .85 * 39 / 2, 1e-3);
  EXPECT_NEAR(bus_bandwidth(two, ring, Protocol::ll128, factor), std::min(.92 * 384, 8 * 36.7),
              1e-3);
  EXPECT_NEAR(bus_bandwidth(all_reduce_on(dgx_h100(), 4), nvls_tree, Protocol::simple,
                            all_reduce_factor(32)),
              8 * 45.5, 1e-3);
}

TEST(NcclTuner, PicksOfANode) {
  const TunerTable table = all_reduce_on(dgx_h100(), 1);
  EXPECT_EQ(pick(table, 8), CollectiveChoice(ring, Protocol::ll));  // 15.0 us; tree: 15.2 us
  EXPECT_EQ(pick(table, 1e9), CollectiveChoice(nvls, Protocol::simple));
  TunerSettings without;
  without.nvls = false;
  EXPECT_EQ(pick(all_reduce_on(dgx_h100(), 1, without), 1e9),
            CollectiveChoice(ring, Protocol::simple));
  // NVLS needs NVSwitch and a GPU newer than Ampere.
  EXPECT_EQ(pick(all_reduce_on(gh200_quad(), 1), 1e9), CollectiveChoice(ring, Protocol::simple));
  EXPECT_EQ(pick(all_reduce_on(dgx_a100(), 1), 1e9), CollectiveChoice(ring, Protocol::simple));
  const TunerTable gather = table_of(CollectiveKind::all_gather, dgx_h100(), 1, 8);
  EXPECT_EQ(pick(gather, 1e9), CollectiveChoice(ring, Protocol::simple));
}

TEST(NcclTuner, PicksBetweenNodes) {
  for (const int nodes : {2, 4, 16, 64}) {
    const TunerTable table = all_reduce_on(dgx_h100(), nodes);
    EXPECT_EQ(pick(table, 8), CollectiveChoice(tree, Protocol::ll)) << nodes;
    EXPECT_EQ(pick(table, 256e6), CollectiveChoice(nvls_tree, Protocol::simple)) << nodes;
  }
  EXPECT_EQ(pick(all_reduce_on(dgx_a100(), 16), 4e9), CollectiveChoice(ring, Protocol::simple));
  // S. Jeaugey (nccl-tests, issue 196): without NVLS two nodes choose the tree, which exceeds the
  // NICs' bandwidth.
  EXPECT_EQ(pick(all_reduce_on(gh200_quad(), 2), 4e9), CollectiveChoice(tree, Protocol::simple));

  for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    for (const double bytes : {8., 1e6, 1e9}) {
      EXPECT_EQ(pick(table_of(kind, dgx_h100(), 8, 8), bytes).algorithm, ring);
    }
    EXPECT_EQ(pick(table_of(kind, dgx_h100(), 64, 1), 1e6),
              CollectiveChoice(pat, Protocol::simple));
    TunerSettings old;
    old.pat = false;
    EXPECT_EQ(pick(table_of(kind, dgx_h100(), 64, 1, old), 1e6).algorithm, ring);
  }
  EXPECT_EQ(pick(table_of(CollectiveKind::broadcast, dgx_h100(), 8, 8), 1e9).algorithm, ring);
}

// SHARP in the network's switches makes NVLS available on several nodes.
TEST(NcclTuner, PicksOfferedSwitches) {
  TunerSettings sharp;
  sharp.collnet = true;
  const TunerTable with = all_reduce_on(dgx_h100(), 8, sharp);
  EXPECT_EQ(pick(with, 1e6), CollectiveChoice(nvls, Protocol::simple));
  for (const CollectiveAlgorithm algorithm : {nvls, collnet_direct, collnet_chain}) {
    EXPECT_TRUE(
        std::isinf(nccl_nominal_s(all_reduce_on(dgx_h100(), 8), algorithm, Protocol::simple, 1e6)));
    EXPECT_TRUE(std::isfinite(nccl_nominal_s(with, algorithm, Protocol::simple, 1e6)));
  }
}

// Clariden's nodes have four GH200 and four NICs of 200 Gb/s behind the host bridge, with NCCL
// 2.23.4. Slopes of its measured curves (github.com/boeschf/nccl-benchmark-on-alps-2025, four GPUs
// per node) change where NCCL changes its choice: 8 GPUs use the ring in LL from 64 KiB and the
// tree from 2 MiB; 16 GPUs use the ring in LL from 128 KiB, the tree from 2 MiB and the ring again
// from 16 MiB.
TEST(NcclTuner, PicksOfClariden) {
  TunerSettings settings;
  settings.ll128_between = false;
  settings.minor_version = 23;
  const TunerTable two = all_reduce_on(gh200_quad(), 2, settings);
  EXPECT_EQ(pick(two, 32 * kKib), CollectiveChoice(tree, Protocol::ll));
  EXPECT_EQ(pick(two, 64 * kKib), CollectiveChoice(ring, Protocol::ll));
  EXPECT_EQ(pick(two, kMib), CollectiveChoice(ring, Protocol::ll));
  EXPECT_EQ(pick(two, 2 * kMib), CollectiveChoice(tree, Protocol::simple));
  const TunerTable four = all_reduce_on(gh200_quad(), 4, settings);
  EXPECT_EQ(pick(four, 64 * kKib), CollectiveChoice(tree, Protocol::ll));
  EXPECT_EQ(pick(four, 128 * kKib), CollectiveChoice(ring, Protocol::ll));
  EXPECT_EQ(pick(four, kMib), CollectiveChoice(ring, Protocol::ll));
  EXPECT_EQ(pick(four, 2 * kMib), CollectiveChoice(tree, Protocol::simple));
  EXPECT_EQ(pick(four, 8 * kMib), CollectiveChoice(tree, Protocol::simple));
  EXPECT_EQ(pick(four, 16 * kMib), CollectiveChoice(ring, Protocol::simple));
}

// A stated share of the NICs' bandwidth limits rings, and trees over three nodes or more. Trees
// over two nodes are limited by the bandwidth inside nodes.
TEST(NcclTuner, CountsWithAShareOfTheNics) {
  TunerSettings half;
  half.net_share = .5;
  const TunerTable four = all_reduce_on(gh200_quad(), 4, half);
  EXPECT_NEAR(bus_bandwidth(four, ring, Protocol::simple, all_reduce_factor(16)), 50, 1e-3);
  EXPECT_NEAR(bus_bandwidth(four, tree, Protocol::simple, 1), .85 * .92 * 50 / 2, 1e-3);
  EXPECT_NEAR(bus_bandwidth(all_reduce_on(gh200_quad(), 2, half), ring, Protocol::simple,
                            all_reduce_factor(8)),
              50, 1e-3);
  EXPECT_DOUBLE_EQ(
      nccl_nominal_s(all_reduce_on(gh200_quad(), 2, half), tree, Protocol::simple, 1e9),
      nccl_nominal_s(all_reduce_on(gh200_quad(), 2), tree, Protocol::simple, 1e9));
}

// Polaris' nodes have four A100, two NICs of 200 Gb/s and AMD hosts. ALCF's curves
// (github.com/argonne-lcf/alcf-nccl-tests, NCCL 2.18 and 2.21 with the OFI plugin) change with the
// release: 2.18 chooses trees in Simple from 256 KiB on, which 2.21 underrates.
TEST(NcclTuner, PicksOfOldReleases) {
  const NodeSpec polaris = node_of(GpuGeneration::ampere, 4, 2, 300, 25, 32);
  TunerSettings settings;
  settings.ll128_between = false;
  settings.cpu = HostCpu::amd;
  settings.minor_version = 18;
  for (const int nodes : {2, 8}) {
    EXPECT_EQ(pick(all_reduce_on(polaris, nodes, settings), 256 * kKib),
              CollectiveChoice(tree, Protocol::simple));
  }
  const TunerTable eight = all_reduce_on(polaris, 8, settings);
  EXPECT_EQ(pick(eight, 8 * kMib), CollectiveChoice(tree, Protocol::simple));
  EXPECT_EQ(pick(eight, 16 * kMib), CollectiveChoice(ring, Protocol::simple));
  settings.minor_version = 21;
  EXPECT_EQ(pick(all_reduce_on(polaris, 2, settings), 256 * kKib),
            CollectiveChoice(ring, Protocol::ll));
  for (const double bytes : {512 * kKib, 2 * kMib}) {
    EXPECT_EQ(pick(all_reduce_on(polaris, 8, settings), bytes),
              CollectiveChoice(ring, Protocol::ll));
  }
  // A step takes 28 us in each direction. The ring has two more steps, and LL uses a quarter of the
  // bandwidth.
  EXPECT_NEAR(nccl_nominal_s(all_reduce_on(polaris, 8, settings), tree, Protocol::simple, 0),
              2 * (3 * 28 + 3 * 28) * 1e-6, 1e-12);
  EXPECT_NEAR(nccl_nominal_s(all_reduce_on(polaris, 8, settings), ring, Protocol::ll, 0),
              (6.6 + (62 - 16) * 2 + 16 * 2.7) * 1e-6, 1e-12);
  EXPECT_NEAR(
      bus_bandwidth(all_reduce_on(polaris, 8, settings), ring, Protocol::ll, all_reduce_factor(32)),
      48. / 4, 1e-3);
}

TEST(NcclTuner, ObeysWhatIsWanted) {
  const TunerTable table = all_reduce_on(dgx_h100(), 4);
  EXPECT_EQ(nccl_choice(table, ring, 8), CollectiveChoice(ring, Protocol::ll));
  EXPECT_EQ(nccl_choice(table, {automatic, Protocol::simple}, 8),
            CollectiveChoice(nvls_tree, Protocol::simple));
  EXPECT_EQ(nccl_choice(table, {tree, Protocol::ll128}, 8),
            CollectiveChoice(tree, Protocol::ll128));
  // If the requested pair does not apply, NCCL runs a ring.
  EXPECT_EQ(nccl_choice(table, {nvls, Protocol::simple}, 8),
            CollectiveChoice(ring, Protocol::simple));
  EXPECT_EQ(nccl_choice(table, {nvls_tree, Protocol::ll}, 8), CollectiveChoice(ring, Protocol::ll));
  EXPECT_EQ(nccl_choice(table_of(CollectiveKind::all_gather, dgx_h100(), 4, 8), tree, 1e9),
            CollectiveChoice(ring, Protocol::simple));
  // NCCL lacks this algorithm, so that the request stays as it is.
  EXPECT_EQ(nccl_choice(table, hierarchical, 8), CollectiveChoice(hierarchical));
  EXPECT_EQ(pick(table_of(CollectiveKind::all_to_all, dgx_h100(), 4, 8), 32 * 16384),
            CollectiveChoice(pairwise, Protocol::ll));
  EXPECT_EQ(pick(table_of(CollectiveKind::all_to_all, dgx_h100(), 4, 8), 33 * 16384),
            CollectiveChoice(pairwise, Protocol::simple));
  EXPECT_EQ(pick(table_of(CollectiveKind::all_reduce, dgx_h100(), 1, 1), 8),
            CollectiveChoice(ring, Protocol::simple));
}

// NCCL offers LL128 on NVLink and on networks that keep its 128-byte lines whole; elsewhere it must
// be forced.
TEST(NcclTuner, Ll128WhereItIsSafe) {
  TunerSettings torn;
  torn.ll128_between = false;
  const auto ever = [](const TunerTable& table, Protocol protocol) {
    for (double bytes = 8; bytes < 1e11; bytes *= 2) {
      if (pick(table, bytes).protocol == protocol) return true;
    }
    return false;
  };
  EXPECT_TRUE(ever(all_reduce_on(dgx_a100(), 4), Protocol::ll128));
  EXPECT_FALSE(ever(all_reduce_on(dgx_a100(), 4, torn), Protocol::ll128));
  EXPECT_TRUE(ever(all_reduce_on(dgx_a100(), 1, torn), Protocol::ll128));
  const NodeSpec pci = node_of(GpuGeneration::ampere, 4, 1, 12, 1.25, 16);
  EXPECT_FALSE(ever(all_reduce_on(pci, 1), Protocol::ll128));
  EXPECT_EQ(
      nccl_choice(all_reduce_on(dgx_a100(), 4, torn), {automatic, Protocol::ll128}, 8).protocol,
      Protocol::ll128);
}

// For any group on any machine the choice is the fastest of those offered, and its time grows with
// the size (except for the tree's correction, which jumps at powers of two).
TEST(NcclTuner, ChoosesTheLeast) {
  const std::array<NodeSpec, 4> machines = {dgx_v100(), dgx_a100(), dgx_h100(), gh200_quad()};
  std::mt19937 generator(11);
  for (int i = 0; i < 500; ++i) {
    const NodeSpec& node = machines.at(generator() % machines.size());
    const int nodes = 1 + static_cast<int>(generator() % 100);
    const int members = 1 + static_cast<int>(generator() % node.gpus);
    const auto kind = static_cast<CollectiveKind>(generator() % 3);
    TunerSettings settings;
    settings.collnet = generator() % 2 == 0;
    const TunerTable table = table_of(kind, node, nodes, members, settings);
    if (table.members < 2) continue;
    for (double bytes = 1; bytes < 1e11; bytes *= 3) {
      const CollectiveChoice choice = pick(table, bytes);
      const double least_s = nccl_nominal_s(table, choice.algorithm, choice.protocol, bytes);
      for (const TunerEntry& pair : table.pairs()) {
        const double s = nccl_nominal_s(table, pair.algorithm, pair.protocol, bytes);
        if (pair.by_default) {
          EXPECT_LE(least_s, s);
        }
        if (pair.corrected_below > 0) continue;
        EXPECT_LT(s, nccl_nominal_s(table, pair.algorithm, pair.protocol, 1.5 * bytes));
      }
    }
  }
}

}  // namespace
}  // namespace windtunnel
