#include "traces/profile/names/group_axis.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace windtunnel {
namespace {

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
