#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/policies/schedules/generated_schedule.hpp"

namespace windtunnel {
namespace {

// With units of p micro-batches on two ranks, rank 1 fills its gaps with weight gradients.
TEST(Zeropp, ByHand) {
  const Schedule schedule = generate_schedule("zeropp", 2, 2, 1);
  EXPECT_EQ(listing(schedule, 0), "0F0 0F1 0I0 0I1 0W0 0W1");
  EXPECT_EQ(listing(schedule, 1), "1F0 1F1 1I0 1I1 1W0 1W1");
}

TEST(Zeropp, StaggersWeightsWithinItsMemory) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> seconds(0.5, 1.5);
  for (int round = 0; round < 100; ++round) {
    const int ranks = 1 + static_cast<int>(random() % 8);
    const int chunks = 1 + static_cast<int>(random() % 4);
    const int microbatches = 1 + static_cast<int>(random() % 40);
    ScheduleRequest request{.ranks = ranks, .microbatches = microbatches, .chunks = chunks};
    request.group = static_cast<int>(random() % 20);
    request.message_s = seconds(random) / 10;
    for (int stage = 0; stage < ranks * chunks; ++stage) {
      request.costs.push_back({seconds(random), seconds(random), seconds(random), 1, 0.5});
    }
    const Schedule schedule = generate_schedule("zeropp", request);
    ASSERT_NO_THROW(validate_schedule(schedule));
    const auto evaluation = evaluate_schedule(schedule, request.costs, request.message_s);
    const int unit = std::min(request.group > 0 ? request.group : ranks, microbatches);
    for (const double peak : evaluation.peak_activation) {
      EXPECT_LE(peak, 1.5 * unit * chunks + 1e-9);
    }
    EXPECT_GE(evaluation.makespan_s, evaluation.max_busy_s());
  }
}

// A single unit of all micro-batches is a looped breadth-first schedule whose drain is filled.
// Units of p micro-batches take a fraction of the memory, and have a smaller bubble than 1F1B.
TEST(Zeropp, TradesBubblesForMemory) {
  for (const int ranks : {2, 4, 8}) {
    const int microbatches = 4 * ranks;
    ScheduleRequest request{.ranks = ranks, .microbatches = microbatches, .chunks = 2};
    const std::vector<StageCost> costs(2 * ranks, {0.5, 0.5, 0.5, 0.5, 0.25});
    const auto evaluate = [&](int group) {
      request.group = group;
      return evaluate_schedule(generate_schedule("zeropp", request), costs, 0);
    };
    const auto whole = evaluate(microbatches);
    const auto units = evaluate(0);
    EXPECT_LE(whole.bubble_makespan_s(), units.bubble_makespan_s() + 1e-9);
    EXPECT_GT(whole.peak_activation[0], 2 * units.peak_activation[0]);
    EXPECT_LT(units.bubble_makespan_s(), (ranks - 1) * 3.0);
  }
}

}  // namespace
}  // namespace windtunnel
