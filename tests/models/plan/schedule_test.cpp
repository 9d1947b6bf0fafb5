#include "models/plan/schedule.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

Schedule placed(int ranks, int chunks, int directions, std::vector<int> rank_of_stage) {
  Schedule schedule;
  schedule.ranks = ranks;
  schedule.chunks = chunks;
  schedule.directions = directions;
  schedule.rank_of_stage = std::move(rank_of_stage);
  return schedule;
}

// Actions are written as in torch.distributed.pipelining: stage, letters and, if an action has one,
// the micro-batch.
TEST(Schedule, ActionsAreWrittenAsTorchWritesThem) {
  EXPECT_EQ(to_string(Action{ActionKind::forward, 3, 1}), "3F1");
  EXPECT_EQ(to_string(Action{ActionKind::backward_input, 0, 12}), "0I12");
  EXPECT_EQ(to_string(Action{ActionKind::receive_backward, 2, 5}), "2RECV_B5");
  EXPECT_EQ(to_string(Action{ActionKind::reduce_grad, 2, 0}), "2REDUCE_GRAD");
  for (const ActionKind kind : {ActionKind::backward_input, ActionKind::backward_weight}) {
    EXPECT_NE(makes_input_gradient(kind), makes_weight_gradient(kind));
    EXPECT_TRUE(is_compute(kind));
  }
  EXPECT_TRUE(makes_input_gradient(ActionKind::backward));
  EXPECT_TRUE(makes_weight_gradient(ActionKind::backward));
  EXPECT_FALSE(is_compute(ActionKind::unshard));
}

// Ranks have two chunks each, looped or as a V; or they run Chimera's two pipelines (Li and Hoefler
// 2021, figure 3), where a rank also holds stages of the mirrored one.
TEST(Schedule, RanksHoldTheStagesOfEveryDirection) {
  EXPECT_EQ(held_stages(placed(2, 2, 1, {0, 1, 0, 1})), (HeldStages{{0, 2}, {1, 3}}));
  EXPECT_EQ(held_stages(placed(2, 2, 1, {0, 1, 0, 1})), looped_stages(2, 2));
  EXPECT_EQ(held_stages(placed(2, 2, 1, {0, 1, 1, 0})), (HeldStages{{0, 3}, {1, 2}}));
  EXPECT_EQ(held_stages(placed(2, 2, 2, {0, 1, 1, 0})), (HeldStages{{0, 1}, {1, 0}}));
}

// The window is the fewest iterations in which p micro-batches end, where p are in flight at once;
// the iterations after it suffice to drain p - 1.
TEST(SteadyWindow, LiesBetweenFillAndDrain) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    for (int microbatches = 1; microbatches <= 9; ++microbatches) {
      Schedule schedule = placed(ranks, 1, 1, {});
      schedule.microbatches = microbatches;
      schedule.iterations = 2 * ranks + 4;
      const SteadyWindow window = steady_window(schedule);
      EXPECT_GE((window.last - window.first) * microbatches, ranks);
      EXPECT_LT((window.last - window.first - 1) * microbatches, ranks);
      EXPECT_GE((schedule.iterations - 1 - window.last) * microbatches, ranks - 1);
      EXPECT_GE(window.first, 0);
    }
  }
}

}  // namespace
}  // namespace windtunnel
