#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policies/conflicts/conflict.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

using testing::HasSubstr;

Offload all_on_host() {
  Offload offload;
  offload.optimizer = offload.gradients = offload.weights = offload.activations = MemoryTier::host;
  return offload;
}

TEST(OffloadConflicts, NothingIsInTheWayOfNothing) {
  Job job = small_job(1, 1, 4);
  job.software.post_validation = true;
  EXPECT_EQ(why_not(Offload{}, job), "");
}

TEST(OffloadConflicts, ShardsSayWhatCanLeave) {
  Job job = small_job(1, 1, 4);
  job.layout.sharding = Sharding::zero3;
  EXPECT_EQ(why_not(all_on_host(), job), "");
  job.layout.sharding = Sharding::zero2;
  EXPECT_THAT(why_not(all_on_host(), job), HasSubstr("zero3"));
  Offload offload = all_on_host();
  offload.weights = MemoryTier::gpu;
  EXPECT_EQ(why_not(offload, job), "");
  job.layout.sharding = Sharding::zero1;
  EXPECT_THAT(why_not(offload, job), HasSubstr("zero2"));
  offload.gradients = MemoryTier::gpu;
  EXPECT_EQ(why_not(offload, job), "");
}

TEST(OffloadConflicts, MuonStaysOnTheGpu) {
  Job job = small_job(1, 1, 4);
  job.software.optimizer = Optimizer::muon;
  Offload offload;
  offload.optimizer = MemoryTier::host;
  EXPECT_THAT(why_not(offload, job), HasSubstr("muon multiplies whole matrices"));
  offload.optimizer = MemoryTier::gpu;
  offload.activations = MemoryTier::host;
  EXPECT_EQ(why_not(offload, job), "");
}

TEST(OffloadConflicts, OneRankHasNobodyToShareWith) {
  const Job job = small_job(1, 1, 1);
  EXPECT_EQ(why_not(all_on_host(), job), "");
}

TEST(OffloadConflicts, WeightsGoWithTheOptimizer) {
  Offload offload;
  offload.weights = MemoryTier::host;
  EXPECT_THAT(why_not(offload, small_job(1, 1, 1)), HasSubstr("offload.optimizer"));
}

TEST(OffloadConflicts, WhatIsNotModelledIsNamed) {
  Job job = small_job(1, 1, 1);
  job.batch.global = job.batch.micro;
  Offload offload = all_on_host();
  offload.placement = OffloadPlacement::chunks;
  job.schedule.slices = 2;
  EXPECT_THAT(why_not(offload, job), HasSubstr("schedule.slices"));
  job = small_job(1, 1, 4);
  job.communication.overlap = GradientOverlap::dear;
  EXPECT_THAT(why_not(offload, job), HasSubstr("communication.overlap"));
}

TEST(OffloadConflicts, WhatWasRefusedOnceGoesTogether) {
  Job job = small_job(1, 1, 1);
  job.software.post_validation = true;
  job.schedule.slices = 2;
  EXPECT_EQ(why_not(all_on_host(), job), "");
  job = small_job(1, 1, 4);
  job.communication.overlap = GradientOverlap::dear;
  Offload offload;
  offload.optimizer = offload.activations = MemoryTier::host;
  EXPECT_THAT(why_not(offload, job), HasSubstr("gathering a shard in the next step, after"));
  job.layout.sharding = Sharding::none;
  EXPECT_EQ(why_not(offload, job), "");
}

TEST(OffloadConflicts, ChunksAreOfOneMicroBatchOfAWholeModel) {
  Job job = small_job(1, 1, 1);
  job.batch.global = job.batch.micro;
  Offload offload = all_on_host();
  offload.placement = OffloadPlacement::chunks;
  EXPECT_EQ(why_not(offload, job), "");
  job.batch.global = 2 * job.batch.micro;
  EXPECT_THAT(why_not(offload, job), HasSubstr("batch.micro"));
  job = small_job(1, 2, 1);
  EXPECT_THAT(why_not(offload, job), HasSubstr("layout.pp"));
  job = small_job(1, 1, 1);
  job.precision = Precision::fp32;
  EXPECT_THAT(why_not(offload, job), HasSubstr("16-bit"));
}

}  // namespace
}  // namespace windtunnel
