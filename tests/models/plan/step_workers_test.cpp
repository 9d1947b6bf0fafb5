#include "models/plan/step_workers.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

TEST(StepWorkers, ReplicasAreWorkersUnlessTheyWaitInPasses) {
  Layout layout{.tp = 2, .cp = 2, .dp = 16};
  EXPECT_EQ(step_workers(layout), 16);
  layout.sharding = Sharding::zero2;
  EXPECT_EQ(step_workers(layout), 16);
  layout.sharding = Sharding::zero3;
  EXPECT_EQ(step_workers(layout), 1) << "one copy of the weights";
  layout.shard_ranks = 8;  // four replicas of two cp ranks each
  EXPECT_EQ(replicas_of_worker(layout), 4);
  EXPECT_EQ(step_workers(layout), 4);
  layout.shard_ranks = 1;  // half of a replica
  EXPECT_EQ(step_workers(layout), 16);
}

TEST(StepWorkers, SharedExpertsJoinReplicas) {
  Layout layout{.tp = 2, .cp = 1, .dp = 24, .ep = 2};
  EXPECT_EQ(step_workers(layout), 24) << "inside a replica";
  layout.ep = 8;
  EXPECT_EQ(step_workers(layout), 6);
  layout.sharding = Sharding::zero3;
  layout.shard_ranks = 6;
  EXPECT_EQ(replicas_of_worker(layout), 12) << "of four and of six";
  EXPECT_EQ(step_workers(layout), 2);
  layout.expert_shard_ranks = 6;  // every eighth rank: all 24 replicas
  EXPECT_EQ(step_workers(layout), 1);
}

TEST(StepWorkers, AnIslandHasItsOwn) {
  Layout layout{.dp = 16};
  layout.sync_groups = {4};
  EXPECT_EQ(step_workers(layout), 4);
  layout.sharding = Sharding::zero3;
  EXPECT_EQ(step_workers(layout), 1);
  layout.shard_ranks = 2;
  EXPECT_EQ(step_workers(layout), 2);
}

}  // namespace
}  // namespace windtunnel
