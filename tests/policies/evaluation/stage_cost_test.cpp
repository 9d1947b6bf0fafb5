#include "policies/evaluation/stage_cost.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

TEST(StageCost, SumsTheParts) {
  ChunkCost chunk;
  chunk.forward = {{Category::forward, Origin::spec, 3}, {Category::ep, Origin::spec, 1}};
  chunk.backward_input = {{Category::ep, Origin::spec, 2}, {Category::tp, Origin::spec, 4}};
  chunk.backward_weight = {{Category::backward, Origin::spec, 5}};
  chunk.activation_bytes = 7;
  const StageCost cost = stage_costs({chunk}).at(0);
  EXPECT_EQ(cost.forward_s, 4);
  EXPECT_EQ(cost.backward_s(), 11);
  EXPECT_EQ(cost.forward_hideable_s, 1);  // only the experts' exchange
  EXPECT_EQ(cost.backward_hideable_s, 2);
  EXPECT_EQ(cost.activation, 7);
}

// The forward pass has 3 s of kernels and 1 s of exchange, the backward pass 9 s and 2 s: each
// exchange hides behind the other's kernels. An exchange of 8 s in the backward pass would hide
// only behind those 3 s.
TEST(StageCost, PairsHideTheirExchangesBehindEachOther) {
  StageCost cost;
  cost.forward_s = 4;
  cost.forward_hideable_s = 1;
  cost.backward_input_s = 3;
  cost.recompute_s = 2;
  cost.backward_hideable_s = 2;
  EXPECT_DOUBLE_EQ(overlapped_s(cost, cost, true), 6);
  cost.backward_input_s = 9;
  cost.backward_hideable_s = 8;
  EXPECT_DOUBLE_EQ(overlapped_s(cost, cost, true), 11);
  EXPECT_DOUBLE_EQ(overlapped_s(cost, cost, false), 4 + 9 - 1 - 3);
}

// At half the speed kernels take twice as long; communication between GPUs takes as long as before.
TEST(StageCost, ASlowNodeLengthensKernelsAlone) {
  ChunkCost chunk;
  chunk.forward = {{Category::forward, Origin::spec, 3}, {Category::tp, Origin::spec, 1}};
  chunk.backward_input = {{Category::backward, Origin::spec, 5}, {Category::host, Origin::spec, 2}};
  chunk.recompute = {{Category::recompute, Origin::spec, 3}, {Category::ep, Origin::spec, 1}};
  const StageCost cost = stage_costs({chunk})[0];
  const StageCost slow = slowed(cost, 2);
  EXPECT_DOUBLE_EQ(slow.forward_s, 7);
  EXPECT_DOUBLE_EQ(slow.backward_input_s, 12);
  EXPECT_DOUBLE_EQ(slow.recompute_s, 7);
  EXPECT_DOUBLE_EQ(overlapped_s(cost, cost, true, 2), overlapped_s(cost, cost, true) + 3 + 5 + 3);
}

}  // namespace
}  // namespace windtunnel
