#include "models/cost/snapshot/snapshot_cost.hpp"

#include <gtest/gtest.h>

#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

constexpr double kState = 14e9;
constexpr double kWeights = 2.0 / 14;

TEST(SnapshotCost, MemoryHoldsTwoCopiesWithTheirParity) {
  SnapshotTier tier{.place = SnapshotPlace::host_memory};
  EXPECT_DOUBLE_EQ(snapshot_host_bytes(tier, kState, kWeights), 28e9);
  tier.code = {.name = CodeName::recompute, .in_node = true};
  EXPECT_DOUBLE_EQ(snapshot_host_bytes(tier, kState, kWeights), 32e9);  // two copies of the weights
  tier.place = SnapshotPlace::peers;
  tier.code = {.name = CodeName::reed_solomon, .data = 4, .parity = 2};
  EXPECT_DOUBLE_EQ(snapshot_host_bytes(tier, kState, kWeights), 42e9);
  tier.code = {.name = CodeName::copies, .data = 1, .parity = 1};
  EXPECT_DOUBLE_EQ(snapshot_host_bytes(tier, kState, kWeights), 56e9);
  // Three differentials of a tenth each are kept beside the full snapshot.
  tier.code = {};
  tier.changed_share = 0.1;
  tier.full_every = 4;
  EXPECT_DOUBLE_EQ(snapshot_host_bytes(tier, kState, kWeights), 1.3 * 28e9);
}

TEST(SnapshotCost, WhatTravelsOnIsStagedOnceAndReplicasTakeNothing) {
  EXPECT_DOUBLE_EQ(snapshot_host_bytes({.place = SnapshotPlace::storage}, kState, kWeights), 14e9);
  EXPECT_DOUBLE_EQ(snapshot_host_bytes({.place = SnapshotPlace::local_disk}, kState, kWeights),
                   14e9);
  const SnapshotTier replicas{.place = SnapshotPlace::replicas};
  EXPECT_EQ(snapshot_host_bytes(replicas, kState, kWeights), 0);
  EXPECT_EQ(snapshot_bytes(replicas, kState, kWeights).moved, 0);
}

TEST(SnapshotCost, DrivesHoldTheKeptCopiesAndTheOneBeingWritten) {
  SnapshotTier tier{.place = SnapshotPlace::local_disk};
  EXPECT_DOUBLE_EQ(snapshot_disk_bytes(tier, kState, kWeights), 3 * kState);
  tier.kept = 5;
  EXPECT_DOUBLE_EQ(snapshot_disk_bytes(tier, kState, kWeights), 6 * kState);
  // Five kept snapshots in a row rest on two full ones, with three differentials of a tenth each.
  tier.changed_share = 0.1;
  tier.full_every = 4;
  EXPECT_DOUBLE_EQ(snapshot_disk_bytes(tier, kState, kWeights), (2 * 1.3 + 1) * kState);
  tier.code = {.name = CodeName::xor_parity, .data = 2, .parity = 1};
  EXPECT_DOUBLE_EQ(snapshot_disk_bytes(tier, kState, kWeights), 1.5 * (2 * 1.3 + 1) * kState);
  tier.place = SnapshotPlace::storage;
  EXPECT_EQ(snapshot_disk_bytes(tier, kState, kWeights), 0);
}

TEST(SnapshotCost, WireBytesAreThoseOfTheParityOrTheCopies) {
  SnapshotTier tier{.place = SnapshotPlace::peers};
  tier.code = {.name = CodeName::reed_solomon, .data = 6, .parity = 2};
  SnapshotBytes bytes = snapshot_bytes(tier, kState, kWeights);
  EXPECT_DOUBLE_EQ(bytes.wire, 28e9);
  EXPECT_DOUBLE_EQ(bytes.moved, 14e9);
  EXPECT_DOUBLE_EQ(bytes.coded, 14e9);
  EXPECT_NEAR(bytes.parity, 14e9 / 3, 1);
  tier.code.in_node = true;
  EXPECT_EQ(snapshot_bytes(tier, kState, kWeights).wire, 0);
}

TEST(SnapshotCost, MoreParityNeverEncodesFaster) {
  ErasureCode code{.name = CodeName::reed_solomon, .data = 10, .parity = 1};
  double before_Bps =
      core_encode_rate({.name = CodeName::xor_parity, .data = 8, .parity = 1}).value;
  for (; code.parity <= 16; ++code.parity) {
    EXPECT_LE(core_encode_rate(code).value, before_Bps) << code.parity;
    before_Bps = core_encode_rate(code).value;
  }
  code.parity = 4;
  const double four_Bps = core_encode_rate(code).value;
  code.parity = 8;
  EXPECT_DOUBLE_EQ(core_encode_rate(code).value, four_Bps / 2);
}

TEST(SnapshotCost, AGpuEncodesAtItsMemorysPace) {
  // An H200 with 4.8 TB/s encodes 4.27 TB/s of data by XOR 8 + 1, and 3.20 TB/s by RS 8 + 4.
  GpuSpec gpu;
  gpu.memory_Bps = spec(4.8e12);
  const Calibration ideal = ideal_calibration();
  EXPECT_NEAR(gpu_encode_rate({.name = CodeName::xor_parity, .data = 8, .parity = 1}, gpu, ideal),
              4.27e12, 0.01e12);
  EXPECT_NEAR(gpu_encode_rate({.name = CodeName::reed_solomon, .data = 8, .parity = 4}, gpu, ideal),
              3.20e12, 0.01e12);
}

}  // namespace
}  // namespace windtunnel
