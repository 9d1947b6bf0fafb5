// Merak's schedules: orders by hand, and bubbles and checkpoints by formula.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "models/base/error.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/evaluation/schedule_validator.hpp"
#include "policies/schedules/schedules.hpp"
#include "tests/policies/schedules/generated_schedule.hpp"

namespace windtunnel {
namespace {

constexpr double kRecomputeTolerance = 1e-9;

// A checkpoint takes 1, and recomputing it adds 9.
std::vector<StageCost> stages_of(int ranks, double forward_s, double recompute_s,
                                 double backward_s) {
  StageCost cost;
  cost.forward_s = forward_s;
  cost.backward_input_s = backward_s / 2;
  cost.backward_weight_s = backward_s / 2;
  cost.recompute_s = recompute_s;
  cost.activation = 1;
  cost.recomputed = 9;
  return std::vector<StageCost>(ranks, cost);
}

struct RecomputeSize {
  int ranks;
  int microbatches;
};

std::vector<RecomputeSize> recompute_sizes() {
  return {{2, 4}, {3, 4},    {4, 4},   {4, 9},   {5, 64},
          {8, 8}, {16, 512}, {33, 40}, {64, 64}, {64, 512}};
}

TEST(RecomputeSchedules, ByHand) {
  const Schedule pre = generate_schedule("pre-recompute-1f1b", 2, 2, 1);
  EXPECT_TRUE(pre.explicit_recompute);
  EXPECT_EQ(listing(pre, 0), "0F0 0F1 0R0 0B0 0R1 0B1");
  EXPECT_EQ(listing(pre, 1), "1F0 1R0 1B0 1F1 1R1 1B1");
  const Schedule last = generate_schedule("last-no-recompute-1f1b", 2, 2, 1);
  EXPECT_EQ(listing(last, 0), "0F0 0F1 0R0 0B0 0R1 0B1");
  EXPECT_EQ(listing(last, 1), "1F0 1B0 1F1 1B1");
  const Schedule shifted = generate_schedule("shifted-critical-path", 3, 4, 1);
  EXPECT_EQ(listing(shifted, 0), "0F0 0F1 0F2 0R0 0B0 0F3 0R1 0B1 0R2 0B2 0R3 0B3");
  EXPECT_EQ(listing(shifted, 1), "1F0 1F1 1F2 1R0 1B0 1R1 1B1 1F3 1R2 1B2 1R3 1B3");
  EXPECT_EQ(listing(shifted, 2), "2F0 2B0 2F1 2B1 2F2 2B2 2F3 2B3");
}

// The bubble is (p - 1) (T_F + T_B) for any R, where plain 1F1B has (p - 1) (T_F + R + T_B).
TEST(RecomputeSchedules, RecomputingAheadTakesItOffTheCriticalPath) {
  for (const auto& [ranks, microbatches] : recompute_sizes()) {
    for (const double recompute_s : {0.0, 0.4, 1.0, 1.7}) {
      const auto costs = stages_of(ranks, 1, recompute_s, 2);
      const auto evaluate = [&, ranks = ranks, microbatches = microbatches](const char* name) {
        return evaluate_schedule(generate_schedule(name, ranks, microbatches, 1), costs, 0);
      };
      EXPECT_NEAR(evaluate("1f1b").bubble_makespan_s(), (ranks - 1) * (3 + recompute_s),
                  kRecomputeTolerance);
      EXPECT_NEAR(evaluate("pre-recompute-1f1b").bubble_makespan_s(), (ranks - 1) * 3,
                  kRecomputeTolerance);
    }
  }
}

// If the last stage does not recompute, the step is shorter by T_F + R, which is 2 R for R = T_F;
// unless the other stages' recomputations are so short (2 R < T_F) that it delays the last
// backward.
TEST(RecomputeSchedules, TheLastStageKeepsItsActivations) {
  for (const auto& [ranks, microbatches] : recompute_sizes()) {
    for (const double recompute_s : {0.5, 1.0, 1.7}) {
      const auto evaluation =
          evaluate_schedule(generate_schedule("last-no-recompute-1f1b", ranks, microbatches, 1),
                            stages_of(ranks, 1, recompute_s, 2), 0);
      EXPECT_NEAR(evaluation.bubble_makespan_s(), (ranks - 1) * 3 - 1 - recompute_s,
                  kRecomputeTolerance)
          << ranks << " " << microbatches << " " << recompute_s;
    }
  }
}

// A third forward fills the time in which the last stage but one waits for its first gradient.
TEST(RecomputeSchedules, TheShiftTakesAnotherForwardOff) {
  for (const auto& [ranks, microbatches] : recompute_sizes()) {
    const auto evaluation =
        evaluate_schedule(generate_schedule("shifted-critical-path", ranks, microbatches, 1),
                          stages_of(ranks, 1, 1, 2), 0);
    EXPECT_NEAR(evaluation.bubble_makespan_s(), (ranks - 2) * 3, kRecomputeTolerance)
        << ranks << " " << microbatches;
  }
}

// The peak is p - r checkpoints and the micro-batch that is being recomputed; the last stage keeps
// one micro-batch whole. The shift adds a checkpoint to the last stage but one.
TEST(RecomputeSchedules, PeaksAreCheckpoints) {
  for (const auto& [ranks, microbatches] : recompute_sizes()) {
    const auto peaks_of = [ranks = ranks, microbatches = microbatches](const char* name) {
      return evaluate_schedule(generate_schedule(name, ranks, microbatches, 1),
                               stages_of(ranks, 1, 1, 2), 0)
          .peak_activation;
    };
    const auto pre = peaks_of("pre-recompute-1f1b");
    const auto last = peaks_of("last-no-recompute-1f1b");
    const auto shifted = peaks_of("shifted-critical-path");
    for (int rank = 0; rank < ranks; ++rank) {
      const int checkpoints = std::min(ranks - rank, microbatches);
      EXPECT_EQ(pre[rank], checkpoints + 9);
      EXPECT_EQ(last[rank], checkpoints + 9);
      EXPECT_EQ(shifted[rank], checkpoints + (rank == ranks - 2 ? 1 : 0) + 9);
    }
  }
}

TEST(RecomputeSchedules, RunWithUnevenStages) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> seconds(0.1, 3);
  for (int round = 0; round < 60; ++round) {
    const int ranks = 2 + static_cast<int>(random() % 11);
    const int microbatches = 4 + static_cast<int>(random() % 30);
    std::vector<StageCost> costs = stages_of(ranks, 1, 1, 2);
    double work_s = 0;
    for (StageCost& cost : costs) {
      cost.forward_s = seconds(random);
      cost.recompute_s = seconds(random);
      cost.backward_input_s = seconds(random);
      cost.backward_weight_s = seconds(random);
      work_s = std::max(work_s, cost.forward_s + cost.backward_s());
    }
    for (const char* name :
         {"pre-recompute-1f1b", "last-no-recompute-1f1b", "shifted-critical-path"}) {
      const Schedule schedule = generate_schedule(name, ranks, microbatches, 1);
      ASSERT_NO_THROW(validate_schedule(schedule));
      const auto evaluation = evaluate_schedule(schedule, costs, seconds(random) / 10);
      EXPECT_GT(evaluation.makespan_s, microbatches * work_s);
    }
  }
}

TEST(RecomputeSchedules, SayWhyTheyCannot) {
  EXPECT_THAT(error_of([] { generate_schedule("shifted-critical-path", 4, 3, 1); }),
              ::testing::HasSubstr("at least 4 micro-batches, not 3: it moves the third forward"));
  EXPECT_THAT(error_of([] { generate_schedule("shifted-critical-path", 1, 8, 1); }),
              ::testing::HasSubstr("at least 2 pipeline ranks"));
  EXPECT_THAT(error_of([] { generate_schedule("pre-recompute-1f1b", 4, 8, 2); }),
              ::testing::HasSubstr("one model chunk per rank, not 2"));
}

}  // namespace
}  // namespace windtunnel
