#include "traces/profile/program_names.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace windtunnel {
namespace {

TEST(PassName, RangesThatProgramsSetAroundPasses) {
  const std::pair<const char*, NamedPass> cases[] = {
      {"PP:0F1", {ActionKind::forward, 0, 1}},
      {"PP:12B34", {ActionKind::backward, 12, 34}},
      {"PP:3I0", {ActionKind::backward_input, 3, 0}},
      {"PP:3W7", {ActionKind::backward_weight, 3, 7}},
      {"Forward 0", {ActionKind::forward, -1, 0}},
      {"Backward 11", {ActionKind::backward, -1, 11}},
      {"forward", {ActionKind::forward, -1, -1}},
      {"forward_step", {ActionKind::forward, -1, -1}},
      {"megatron.core.pipeline_parallel.schedules.backward_step", {ActionKind::backward, -1, -1}},
      {"fwd_microstep", {ActionKind::forward, -1, -1}},
      {"bwd3", {ActionKind::backward, -1, 3}},
      {"Backward pass, micro-batch 2", {ActionKind::backward, -1, 2}},
  };
  for (const auto& [name, pass] : cases) EXPECT_EQ(pass_of_range(name), pass) << name;
}

TEST(PassName, WhatElseStandsInTraces) {
  for (const char* name :
       {"", "PP:", "PP:0", "PP:0F", "PP:F1", "PP:0SEND_F1", "PP:0UNSHARD",
        "PP:(0F1;1B2)OVERLAP_F_B", "FSDP::pre_forward", "FSDP::all_gather", "forward_backward_func",
        "forward 1 of 2", "ProfilerStep#3", "Optimizer.step#AdamW.step", "optimizer",
        "feed forward", "backward_epilogue", "Forward 99999999999999999999"}) {
    EXPECT_EQ(pass_of_range(name), std::nullopt) << name;
  }
}

TEST(GroupAxis, ByTheDescriptionsThatProgramsGive) {
  const std::pair<const char*, Category> known[] = {
      {"DATA_PARALLEL_GROUP", Category::dp},
      {"DATA_PARALLEL_GROUP_WITH_CP", Category::dp},
      {"EXPERT_DATA_PARALLEL_GROUP", Category::dp},
      {"TENSOR_AND_DATA_PARALLEL_GROUP", Category::dp},
      {"TENSOR_MODEL_PARALLEL_GROUP", Category::tp},
      {"EXPERT_TENSOR_PARALLEL_GROUP", Category::tp},
      {"MODEL_PARALLEL_GROUP", Category::tp},
      {"PIPELINE_MODEL_PARALLEL_GROUP", Category::pp},
      {"POSITION_EMBEDDING_GROUP", Category::pp},
      {"CONTEXT_PARALLEL_GROUP", Category::cp},
      {"EXPERT_MODEL_PARALLEL_GROUP", Category::ep},
      {"mesh_tp", Category::tp},
      {"mesh_dp_shard", Category::dp},
      {"mesh_dp_replicate", Category::dp},
      {"mesh_dp_shard_cp", Category::dp},
      {"mesh_pp", Category::pp},
      {"mesh_cp", Category::cp},
      {"mesh_ep", Category::ep},
      {"dp", Category::dp},
      {"tp_group", Category::tp},
      {"dp0", Category::dp},
      {"data_parallel", Category::dp},
      {"fsdp", Category::dp},
  };
  for (const auto& [described, axis] : known) {
    EXPECT_EQ(axis_of_group(described), axis) << described;
  }
  for (const char* const described : {"", "default_pg", "undefined", "step", "mesh_x"}) {
    EXPECT_FALSE(axis_of_group(described)) << described;
  }
}

TEST(GroupAxis, ReplicasOfShardedWeightsAreTold) {
  EXPECT_TRUE(joins_replicas("mesh_dp_replicate"));
  EXPECT_TRUE(joins_replicas("replicas"));
  EXPECT_FALSE(joins_replicas("mesh_dp_shard"));
  EXPECT_FALSE(joins_replicas("DATA_PARALLEL_GROUP"));
}

}  // namespace
}  // namespace windtunnel
