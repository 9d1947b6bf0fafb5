#include "traces/profile/names/pass_name.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace windtunnel
