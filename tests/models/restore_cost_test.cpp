#include "models/restore_cost.hpp"

#include <gtest/gtest.h>

#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

using testing::small_job;

TEST(RestoreCost, HostMemoryReadsOverPcieAllGpusAtOnce) {
  Job job = small_job(1, 2, 4);
  const SnapshotTier tier{SnapshotPlace::host_memory, SnapshotMode::async, 1, 0, true};
  // 10 GB on the fuller rank over 20 GB/s.
  EXPECT_DOUBLE_EQ(restore_s(tier, {6e9, 10e9}, job.layout, job.cluster, job.calibration), 0.5);
  // Four GPUs of a node share its host memory: 40 GB over 50 GB/s.
  job.cluster.node.host_memory_Bps.value = 50e9;
  EXPECT_DOUBLE_EQ(restore_s(tier, {6e9, 10e9}, job.layout, job.cluster, job.calibration), 0.8);
}

TEST(RestoreCost, StorageIsBoundByItselfOrByTheNodesNic) {
  Job job = small_job(1, 2, 4);  // 2 nodes of 4 GPUs
  SnapshotTier tier;
  tier.place = SnapshotPlace::storage;
  job.cluster.storage.latency_s = testing::spec(1);
  // 4 ranks x (6 + 10) GB over 20 GB/s = 3.2 s; a node: 40 GB over 10 GB/s = 4 s; PCIe 0.5 s.
  EXPECT_DOUBLE_EQ(restore_s(tier, {6e9, 10e9}, job.layout, job.cluster, job.calibration), 5.5);
  job.cluster.storage.read_Bps.value = 5e9;  // 12.8 s
  EXPECT_DOUBLE_EQ(restore_s(tier, {6e9, 10e9}, job.layout, job.cluster, job.calibration), 14.3);
}

}  // namespace
}  // namespace windtunnel
