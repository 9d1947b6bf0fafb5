// Schedules without a flush: steady state, versions of the weights, and staleness.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "models/base/error.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/evaluation/schedule_validator.hpp"
#include "policies/schedules/schedules.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

struct AsynchronousSize {
  int ranks;
  int microbatches;
};

std::vector<AsynchronousSize> asynchronous_sizes() {
  return {{1, 1}, {2, 1}, {2, 5}, {3, 4}, {4, 4}, {8, 3}, {8, 32}, {16, 20}, {64, 7}, {64, 512}};
}

std::vector<StageCost> equal_stages(int ranks) {
  return std::vector<StageCost>(ranks, {.forward_s = 1,
                                        .backward_input_s = 1.3,
                                        .backward_weight_s = 0.7,
                                        .activation = 1,
                                        .weight_activation = 0.5});
}

// Counts groups of `group` consecutive units among the units in flight on a rank; returns the
// largest number at any time.
int groups_under_way(const Schedule& schedule, int rank, int group) {
  int most = 0;
  std::vector<int> under_way;
  for (const Action& action : schedule.actions[rank]) {
    if (action.kind == ActionKind::forward) {
      under_way.push_back(action.unit);
    } else {
      std::erase(under_way, action.unit);
    }
    std::vector<int> groups;
    for (const int unit : under_way) groups.push_back(unit / group);
    std::ranges::sort(groups);
    most = std::max(most,
                    static_cast<int>(std::unique(groups.begin(), groups.end()) - groups.begin()));
  }
  return most;
}

// The number of updates of a rank's weights between a unit's forward pass and its own update, if
// every backward pass is an update.
int staleness(const Schedule& schedule, int rank) {
  std::vector<int> version_of(schedule.units());
  int version = 0;
  int most = 0;
  for (const Action& action : schedule.actions[rank]) {
    if (action.kind == ActionKind::forward) {
      version_of[action.unit] = version;
    } else {
      ++version;
      most = std::max(most, version - version_of[action.unit]);
    }
  }
  return most;
}

TEST(AsynchronousSchedules, ByHand) {
  const Schedule schedule = generate_schedule("pipedream", 2, 2, 1);
  EXPECT_EQ(schedule.iterations, 4);
  EXPECT_EQ(schedule.units(), 8);
  std::string text;
  for (const Action& action : schedule.actions[0]) text += to_string(action) + " ";
  EXPECT_EQ(text, "0F0 0F1 0B0 0F2 0B1 0F3 0B2 0F4 0B3 0F5 0B4 0F6 0B5 0F7 0B6 0B7 ");
}

TEST(AsynchronousSchedules, HaveNoBubbleInTheSteadyState) {
  for (const auto& [ranks, microbatches] : asynchronous_sizes()) {
    for (const char* name : {"pipedream", "pipedream-2bw"}) {
      if (name == std::string("pipedream-2bw") && microbatches < ranks) continue;
      const Schedule schedule = generate_schedule(name, ranks, microbatches, 1);
      ASSERT_NO_THROW(validate_schedule(schedule));
      const auto evaluation = evaluate_schedule(schedule, equal_stages(ranks), 0);
      EXPECT_NEAR(evaluation.makespan_s, 3.0 * microbatches, 1e-9);
      EXPECT_NEAR(evaluation.bubble_makespan_s(), 0, 1e-9) << name << ranks << " " << microbatches;
      for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(evaluation.peak_activation[rank], ranks - rank);
      }
    }
  }
}

// Only the slowest stage decides, wherever it is.
TEST(AsynchronousSchedules, ThePeriodIsTheSlowestStage) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> seconds(0.5, 1.5);
  for (int round = 0; round < 100; ++round) {
    const int ranks = 1 + static_cast<int>(random() % 16);
    const int microbatches = 1 + static_cast<int>(random() % 40);
    auto costs = equal_stages(ranks);
    double slowest_s = 0;
    for (StageCost& cost : costs) {
      const double slow = seconds(random);
      cost.forward_s *= slow;
      cost.backward_input_s *= slow;
      cost.backward_weight_s *= slow;
      slowest_s = std::max(slowest_s, cost.forward_s + cost.backward_s());
    }
    const Schedule schedule = generate_schedule("pipedream", ranks, microbatches, 1);
    EXPECT_NEAR(evaluate_schedule(schedule, costs, 0).makespan_s, microbatches * slowest_s,
                0.01 * microbatches * slowest_s)
        << ranks << " " << microbatches;
  }
}

// Messages lengthen the round trip of the p - r units in flight: p units take p T + 2 (p - 1) T_c.
TEST(AsynchronousSchedules, MessagesSlowTheRoundTrip) {
  for (const int ranks : {2, 4, 8}) {
    const Schedule schedule = generate_schedule("pipedream-2bw", ranks, 4 * ranks, 1);
    EXPECT_NEAR(evaluate_schedule(schedule, equal_stages(ranks), 0.2).makespan_s,
                4 * (3.0 * ranks + 2 * (ranks - 1) * 0.2), 1e-9);
  }
}

TEST(AsynchronousSchedules, HoldAsManyVersionsAsTheySay) {
  for (const auto& [ranks, microbatches] : asynchronous_sizes()) {
    const Schedule pipedream = generate_schedule("pipedream", ranks, microbatches, 1);
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(pipedream.weight_copies[rank], ranks - rank);
      EXPECT_EQ(groups_under_way(pipedream, rank, 1), ranks - rank);
      EXPECT_EQ(staleness(pipedream, rank), ranks - rank);
    }
    if (microbatches < ranks) continue;
    const Schedule twice = generate_schedule("pipedream-2bw", ranks, microbatches, 1);
    EXPECT_EQ(twice.weight_copies, std::vector<double>(ranks, 2));
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_LE(groups_under_way(twice, rank, microbatches), 2);
    }
  }
}

TEST(AsynchronousSchedules, TwoVersionsNeedEnoughMicrobatches) {
  EXPECT_TRUE(fails([&] { generate_schedule("pipedream-2bw", 4, 3, 1); },
                    "as many micro-batches as pipeline ranks (4)"));
}

// The limit counts the forward passes of all iterations.
TEST(AsynchronousSchedules, TooManyForwardsAreRefused) {
  EXPECT_THROW(generate_schedule("pipedream", 20000, 1, 1), Error);
}

}  // namespace
}  // namespace windtunnel
