// The automatic zero-bubble schedules keep to memory limits, and are never worse than the
// handcrafted ones.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/evaluation/schedule_validator.hpp"
#include "policies/schedules/schedules.hpp"

namespace windtunnel {
namespace {

constexpr double kSlack = 1 + 1e-9;

ScheduleRequest uniform(int ranks, int microbatches, const StageCost& cost, double message_s) {
  return {.ranks = ranks,
          .microbatches = microbatches,
          .costs = std::vector<StageCost>(ranks, cost),
          .message_s = message_s};
}

ScheduleEvaluation evaluate(const char* name, const ScheduleRequest& request) {
  const Schedule schedule = generate_schedule(name, request);
  EXPECT_EQ(schedule.name, name);
  EXPECT_NO_THROW(validate_schedule(schedule));
  return evaluate_schedule(schedule, request.costs, request.message_s);
}

// With equal times and twice 1f1b's memory there is no bubble after the first forward pass (section
// 3.1 of the paper).
TEST(ZeroBubbleAuto, EqualTimesLeaveNoBubble) {
  for (const int ranks : {1, 2, 5, 8}) {
    const ScheduleEvaluation got =
        evaluate("zb-2p", uniform(ranks, 3 * ranks, {1, 1, 1, 1, 0.5}, 0));
    EXPECT_DOUBLE_EQ(got.longest_stage_s, 9.0 * ranks) << ranks;
  }
}

// The planner counts in whole ticks, so that equal times stay equal even if they have no exact
// binary form.
TEST(ZeroBubbleAuto, ScaledTimesGiveTheSameOrder) {
  const ScheduleRequest request = uniform(6, 17, {5, 6, 3, 1, 0.25}, 1);
  for (const double scale : {0.1, 1e-6, 1.0 / 3, 7e5}) {
    const ScheduleRequest scaled =
        uniform(6, 17, {5 * scale, 6 * scale, 3 * scale, scale, 0.25 * scale}, scale);
    for (const char* name : {"zb-1p", "zb-2p", "zb-auto"}) {
      EXPECT_EQ(generate_schedule(name, scaled).actions, generate_schedule(name, request).actions)
          << name << " times " << scale;
    }
  }
}

class RandomRequests {
 public:
  int pick(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1));
  }
  double share(double low) { return low + (1 - low) * pick(0, 1000) * 1e-3; }

  StageCost cost() {
    StageCost cost{share(0.2), share(0.2), share(0), share(0.2), 0};
    cost.weight_activation = cost.activation * share(0);
    return cost;
  }

  ScheduleRequest request(bool even) {
    const int ranks = pick(1, 12);
    const int microbatches = pick(1, 40);
    ScheduleRequest request = uniform(ranks, microbatches, cost(), pick(0, 2) * 0.05 * share(0));
    if (even) return request;
    for (StageCost& stage : request.costs) stage = cost();
    return request;
  }

 private:
  std::mt19937 random_{7};
};

TEST(ZeroBubbleAuto, KeepsItsMemoryAndIsNeverWorseThanTheHandcrafted) {
  RandomRequests random;
  for (int i = 0; i < 400; ++i) {
    const ScheduleRequest request = random.request(i % 2 == 0);
    SCOPED_TRACE(fmt::format("case {}: p {} m {}", i, request.ranks, request.microbatches));
    const ScheduleEvaluation one = evaluate("zb-1p", request);
    const ScheduleEvaluation two = evaluate("zb-2p", request);
    const ScheduleEvaluation h1 = evaluate("zb-h1", request);
    const ScheduleEvaluation h2 = evaluate("zb-h2", request);
    for (int r = 0; r < request.ranks; ++r) {
      const double activation = request.costs[r].activation;
      EXPECT_LE(one.peak_activation[r], request.ranks * activation * kSlack) << "rank " << r;
      EXPECT_LE(two.peak_activation[r], 2 * request.ranks * activation * kSlack) << "rank " << r;
    }
    EXPECT_LE(one.longest_stage_s, h1.longest_stage_s * kSlack);
    EXPECT_LE(two.longest_stage_s, h1.longest_stage_s * kSlack);
    EXPECT_LE(two.longest_stage_s, h2.longest_stage_s * kSlack);
  }
}

TEST(ZeroBubbleAuto, AnyLimitOfOneMicrobatchOrMoreIsKept) {
  RandomRequests random;
  for (int i = 0; i < 300; ++i) {
    ScheduleRequest request = random.request(i % 2 == 0);
    const ScheduleRequest plain = request;
    double largest = 0;
    for (const StageCost& cost : request.costs) largest = std::max(largest, cost.activation);
    request.memory_limit = largest;
    if (i % 5 != 0) request.memory_limit *= 1 + 2 * request.ranks * random.share(0);
    SCOPED_TRACE(fmt::format("case {}: p {} m {}", i, request.ranks, request.microbatches));
    const ScheduleEvaluation got = evaluate("zb-auto", request);
    for (const double peak : got.peak_activation) EXPECT_LE(peak, request.memory_limit * kSlack);
    // A handcrafted order that fits in memory is among the candidates.
    for (const char* name : {"zb-h1", "zb-h2"}) {
      const ScheduleEvaluation other = evaluate(name, plain);
      if (*std::ranges::max_element(other.peak_activation) > request.memory_limit) continue;
      EXPECT_LE(got.longest_stage_s, other.longest_stage_s * kSlack) << name;
    }
  }
}

TEST(ZeroBubbleAuto, RecomputationCountsAsPartOfTheInputGradient) {
  StageCost recomputing{1, 1, 1, 1, 0.5, 0.5};
  const ScheduleRequest one = uniform(4, 12, recomputing, 0.1);
  recomputing.backward_input_s += recomputing.recompute_s;
  recomputing.recompute_s = 0;
  const ScheduleRequest other = uniform(4, 12, recomputing, 0.1);
  EXPECT_EQ(generate_schedule("zb-2p", one).actions, generate_schedule("zb-2p", other).actions);
}

}  // namespace
}  // namespace windtunnel
