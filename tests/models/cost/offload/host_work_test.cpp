#include "models/cost/offload/host_work.hpp"

#include <gtest/gtest.h>

#include "models/cost/offload/offload.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

// The node has 4 GPUs with 20 GB/s of PCIe each, host memory of 200 GB/s, and 64 cores.
Job host_job() {
  return small_job(1, 1, 4);
}

TEST(HostWork, ACopyTakesItsPcieLinkUnlessTheHostsMemoryIsNarrower) {
  Job job = host_job();
  EXPECT_NEAR(copy_work(job, CopyWay::to_host, 1e9, 0, false).seconds, 1 / 20.0, 1e-12);
  job.cluster.node.host_memory_Bps = spec(40e9);  // a quarter per GPU
  EXPECT_NEAR(copy_work(job, CopyWay::from_host, 1e9, 0, false).seconds, 1 / 10.0, 1e-12);
}

TEST(HostWork, WhatTheHostDoesWithACopyAddsToItsTraffic) {
  const Job job = host_job();
  const HostWork alone = copy_work(job, CopyWay::to_host, 1e9, 0, false);
  const HostWork summed = copy_work(job, CopyWay::to_host, 1e9, 5e9, false);
  ASSERT_EQ(alone.flows.size(), 2U);
  EXPECT_EQ(alone.flows[0].amount, 1e9);
  EXPECT_EQ(alone.flows[1].amount, 1e9);
  EXPECT_EQ(summed.flows[1].amount, 6e9);
  EXPECT_NEAR(summed.seconds, 6 / 50.0, 1e-12);
}

TEST(HostWork, DrivesAreOneOfTheWaysThatACopyTakes) {
  Job job = host_job();
  job.cluster.node.local_disk_Bps = spec(8e9);
  EXPECT_NEAR(copy_work(job, CopyWay::to_host, 1e9, 0, true).seconds, 1 / 2.0, 1e-12);
  EXPECT_NEAR(drive_work(job, 1e9).seconds, 1 / 2.0, 1e-12);
}

TEST(HostWork, AStepIsBoundByCoresOrByMemory) {
  Job job = host_job();
  Offload offload;
  offload.core_Bps = spec(10e9);
  offload.cores = 2;
  job.offload = std::make_shared<const Offload>(offload);
  EXPECT_NEAR(update_work(job, 1e9).seconds, 1 / 20.0, 1e-12);  // 2 cores
  offload.cores = 0;                                            // 16 of the node's per GPU
  job.offload = std::make_shared<const Offload>(offload);
  EXPECT_NEAR(update_work(job, 1e9).seconds, 1 / 50.0, 1e-12);
}

TEST(HostWork, NothingTakesNoTime) {
  const HostWork none = copy_work(host_job(), CopyWay::to_host, 0, 0, false);
  EXPECT_EQ(none.seconds, 0);
  EXPECT_TRUE(none.flows.empty());
}

}  // namespace
}  // namespace windtunnel
