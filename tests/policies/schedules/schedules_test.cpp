#include "policies/schedules/schedules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "models/base/error.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/evaluation/schedule_lowering.hpp"
#include "policies/evaluation/schedule_validator.hpp"
#include "tests/policies/schedules/generated_schedule.hpp"

namespace windtunnel {
namespace {

TEST(Schedules, GpipeByHand) {
  const Schedule schedule = generate_schedule("gpipe", 2, 3, 1);
  EXPECT_EQ(listing(schedule, 0), "0F0 0F1 0F2 0B2 0B1 0B0");
  EXPECT_EQ(listing(schedule, 1), "1F0 1F1 1F2 1B2 1B1 1B0");
}

TEST(Schedules, OneForwardOneBackwardByHand) {
  const Schedule schedule = generate_schedule("1f1b", 3, 4, 1);
  EXPECT_EQ(listing(schedule, 0), "0F0 0F1 0F2 0B0 0F3 0B1 0B2 0B3");
  EXPECT_EQ(listing(schedule, 1), "1F0 1F1 1B0 1F2 1B1 1F3 1B2 1B3");
  EXPECT_EQ(listing(schedule, 2), "2F0 2B0 2F1 2B1 2F2 2B2 2F3 2B3");
}

TEST(Schedules, EagerAndDeferredByHand) {
  const Schedule eager = generate_schedule("eager-1f1b", 2, 4, 1);
  EXPECT_EQ(listing(eager, 0), "0F0 0F1 0F2 0B0 0F3 0B1 0B2 0B3");
  EXPECT_EQ(listing(eager, 1), "1F0 1B0 1F1 1B1 1F2 1B2 1F3 1B3");
  const Schedule deferred = generate_schedule("2bp", 2, 2, 1);
  EXPECT_EQ(deferred.name, "2bp");
  EXPECT_EQ(listing(deferred, 0), "0F0 0F1 0I0 0I1 0W0 0W1");
  EXPECT_EQ(listing(deferred, 1), "1F0 1I0 1F1 1I1 1W0 1W1");
}

TEST(Schedules, LoopedBreadthFirstByHand) {
  const Schedule schedule = generate_schedule("looped-bfs", 2, 2, 2);
  EXPECT_EQ(listing(schedule, 0), "0F0 0F1 2F0 2F1 2B0 2B1 0B0 0B1");
  EXPECT_EQ(listing(schedule, 1), "1F0 1F1 3F0 3F1 3B0 3B1 1B0 1B1");
}

// The orders are small versions of figures 2 and 3 of arXiv 2401.10241.
TEST(Schedules, ZeroBubbleByHand) {
  const Schedule h1 = generate_schedule("zb-h1", 2, 3, 1);
  EXPECT_EQ(listing(h1, 0), "0F0 0F1 0I0 0W0 0F2 0I1 0W1 0I2 0W2");
  EXPECT_EQ(listing(h1, 1), "1F0 1I0 1F1 1I1 1W0 1F2 1I2 1W1 1W2");
  const Schedule h2 = generate_schedule("zb-h2", 2, 3, 1);
  EXPECT_EQ(listing(h2, 0), "0F0 0F1 0F2 0I0 0W0 0I1 0W1 0I2 0W2");
  EXPECT_EQ(listing(h2, 1), "1F0 1I0 1F1 1I1 1F2 1I2 1W0 1W1 1W2");
}

// Deferring weight gradients does not split the backward pass of a pair that runs as one.
TEST(Schedules, DeferredWeightsLeavePairsAlone) {
  Schedule schedule = generate_schedule("1f1b", 2, 2, 1);
  schedule.actions[1][2].with_next = true;
  EXPECT_EQ(listing(with_deferred_weights(schedule), 1), "1F0 1I0 1F1 1B1 1W0");
}

TEST(Schedules, DeferredWeightsComeBeforeTheirReduction) {
  Schedule schedule = with_gradient_reductions(generate_schedule("interleaved-1f1b", 2, 2, 2));
  ASSERT_EQ(listing(schedule, 0), "0F0 0F1 2F0 2F1 2B0 2B1 2REDUCE_GRAD 0B0 0B1 0REDUCE_GRAD");
  schedule = with_deferred_weights(std::move(schedule));
  validate_schedule(schedule);
  EXPECT_EQ(listing(schedule, 0),
            "0F0 0F1 2F0 2F1 2I0 2I1 0I0 0I1 2W0 2W1 0W0 0W1 2REDUCE_GRAD 0REDUCE_GRAD");
}

TEST(Schedules, WeightsAreDeferredToAnEndOnly) {
  const Schedule schedule = generate_schedule("pipedream-2bw", 2, 4, 1);
  EXPECT_THAT(error_of([&] { with_deferred_weights(schedule); }),
              ::testing::HasSubstr("'pipedream-2bw' cannot defer weight gradients"));
}

// The order is that of figure 4 of the SC'21 paper, for two ranks of two chunks: rank 1 reaches its
// steady state earlier.
TEST(Schedules, InterleavedByHand) {
  const Schedule schedule = generate_schedule("interleaved-1f1b", 2, 4, 2);
  EXPECT_EQ(schedule.rank_of_stage, (std::vector<int>{0, 1, 0, 1}));
  EXPECT_EQ(listing(schedule, 0),
            "0F0 0F1 2F0 2F1 0F2 2B0 0F3 2B1 2F2 0B0 2F3 0B1 2B2 2B3 0B2 0B3");
  EXPECT_EQ(listing(schedule, 1),
            "1F0 1F1 3F0 3B0 3F1 3B1 1F2 1B0 1F3 1B1 3F2 3B2 3F3 3B3 1B2 1B3");
}

TEST(Schedules, InterleavedWithAShortLastGroup) {
  const Schedule schedule = generate_schedule("interleaved-1f1b", 2, 3, 2);
  EXPECT_EQ(listing(schedule, 1), "1F0 1F1 3F0 3B0 3F1 3B1 1F2 1B0 3F2 1B1 3B2 1B2");
}

TEST(Schedules, InterleavedInGroups) {
  ScheduleRequest request{.ranks = 2, .microbatches = 3, .chunks = 2, .group = 3};
  const Schedule schedule = generate_schedule("interleaved-1f1b", request);
  EXPECT_EQ(listing(schedule, 0), "0F0 0F1 0F2 2F0 2F1 2F2 2B0 2B1 2B2 0B0 0B1 0B2");
  EXPECT_EQ(listing(schedule, 1), "1F0 1F1 1F2 3F0 3B0 3F1 3B1 3F2 3B2 1B0 1B1 1B2");
  // A group that exceeds the micro-batches is a group of all of them.
  request.group = 1000000000;
  EXPECT_EQ(generate_schedule("interleaved-1f1b", request).actions, schedule.actions);
}

// Torch's groups of m / max(1, m / p) leave no remainder and never deadlock, for any m.
TEST(Schedules, GroupsOfTorchNeverDeadlock) {
  for (int ranks = 1; ranks <= 12; ++ranks) {
    for (int microbatches = 1; microbatches <= 40; ++microbatches) {
      const int rounds = std::max(1, microbatches / ranks);
      if (microbatches % rounds != 0) continue;
      for (const int chunks : {2, 3, 5}) {
        const Schedule schedule =
            generate_schedule("interleaved-1f1b", {.ranks = ranks,
                                                   .microbatches = microbatches,
                                                   .chunks = chunks,
                                                   .group = microbatches / rounds});
        EXPECT_NO_THROW(validate_schedule(schedule));
        EXPECT_NO_THROW(evaluate_schedule(schedule, std::vector<StageCost>(ranks * chunks), 0));
      }
    }
  }
}

TEST(Schedules, EveryKindNamesItsSource) {
  for (const ScheduleKind& kind : schedule_kinds()) {
    EXPECT_THAT(std::string(kind.source), ::testing::HasSubstr("arXiv")) << kind.name;
    EXPECT_FALSE(kind.help.empty());
    const int chunks = kind.usual_chunks;
    EXPECT_EQ(generate_schedule(kind.name, 4, 8, chunks).iterations > 1, kind.asynchronous)
        << kind.name;
  }
}

TEST(Schedules, SaysWhyWhenItCannot) {
  EXPECT_EQ(error_of([] { generate_schedule("1f1", 2, 2, 1); }),
            "unknown schedule '1f1'; did you mean '1f1b'?");
  EXPECT_THAT(error_of([] { generate_schedule("1f1b", 2, 2, 2); }),
              ::testing::HasSubstr("one model chunk per rank, not 2"));
  EXPECT_THAT(error_of([] { generate_schedule("gpipe", 2, 2, 3); }),
              ::testing::HasSubstr("one model chunk per rank, not 3"));
  EXPECT_THAT(error_of([] { generate_schedule("interleaved-1f1b", 2, 2, 1); }),
              ::testing::HasSubstr("at least 2 model chunks"));
  EXPECT_THAT(
      error_of([] { generate_schedule("interleaved-1f1b", 4, 5, 3); }),
      ::testing::HasSubstr("deadlocks with 5 micro-batches on 4 pipeline ranks of 3 chunks: "
                           "the last group holds 1 micro-batches where 4 are needed"));
  const auto error_with = [](const char* name, const ScheduleRequest& request) {
    return error_of([&] { generate_schedule(name, request); });
  };
  EXPECT_THAT(error_with("gpipe", {.ranks = 2, .microbatches = 2, .group = 2}),
              ::testing::HasSubstr("'gpipe' takes no group; schedules that do: interleaved-1f1b"));
  EXPECT_THAT(error_with("zb-h1", {.ranks = 2, .microbatches = 2, .slices = 2}),
              ::testing::HasSubstr("'zb-h1' takes no slices; schedules that do: seq1f1b"));
  EXPECT_THAT(error_with("zb-1p", {.ranks = 2, .microbatches = 2, .memory_limit = 5}),
              ::testing::HasSubstr("takes no memory limit; schedules that do: zb-auto"));
  EXPECT_THAT(error_with("zb-auto", {.ranks = 2, .microbatches = 2, .memory_limit = -1}),
              ::testing::HasSubstr("must not be negative"));
  EXPECT_EQ(error_with("zb-auto", {.ranks = 2, .microbatches = 2, .memory_limit = 0.5}),
            "schedule 'zb-auto': one micro-batch keeps activations of 1 on rank 0, but the "
            "memory limit is 0.5");
  EXPECT_THAT(error_of([] { generate_schedule("1f1b", 0, 2, 1); }),
              ::testing::HasSubstr("at least 1 rank"));
  EXPECT_THAT(error_of([] { generate_schedule("1f1b", 2000000000, 2000000000, 1); }),
              ::testing::HasSubstr("too large"));
  // The limit exists because analysing a schedule takes some KB of memory per forward pass.
  EXPECT_NO_THROW(check_request({.ranks = 4, .microbatches = 500000}));
  EXPECT_EQ(error_of([] { check_request({.ranks = 4, .microbatches = 25000000}); }),
            "a schedule of 4 ranks, 25000000 micro-batches, 1 chunks and 1 slices is too large: it "
            "has 100 M forward passes on 4 stages, and the limits are 2.00 M passes and 1.00 M "
            "stages; take fewer micro-batches");
}

}  // namespace
}  // namespace windtunnel
