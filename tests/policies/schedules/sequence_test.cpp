// Schedules of sequence slices: orders by hand, bubbles and peaks by formula, and shares of equal
// work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "models/base/error.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/evaluation/schedule_validator.hpp"
#include "policies/schedules/schedules.hpp"
#include "tests/policies/schedules/generated_schedule.hpp"

namespace windtunnel {
namespace {

constexpr double kSequenceTolerance = 1e-9;

Schedule sliced(const char* name, int ranks, int microbatches, int slices, int chunks = 1) {
  return generate_schedule(
      name, {.ranks = ranks, .microbatches = microbatches, .chunks = chunks, .slices = slices});
}

// Equal slices of a micro-batch with F = 1, I = 1.3, W = 0.7 and activation 1.
std::vector<StageCost> equal_slices(int stages, int slices) {
  const double share = 1.0 / slices;
  return std::vector<StageCost>(static_cast<std::size_t>(stages) * slices,
                                {.forward_s = share,
                                 .backward_input_s = 1.3 * share,
                                 .backward_weight_s = 0.7 * share,
                                 .activation = share,
                                 .weight_activation = 0.5 * share});
}

// Costs of slices with these shares, if a micro-batch's tokens cost 1 and its attention costs
// `attention`.
std::vector<StageCost> causal_slices(int stages, const std::vector<double>& shares,
                                     double attention) {
  std::vector<StageCost> costs;
  for (int stage = 0; stage < stages; ++stage) {
    double before = 0;
    for (const double share : shares) {
      const double end = before + share;
      const double forward_s = share + attention * (end * end - before * before);
      costs.push_back({.forward_s = forward_s,
                       .backward_input_s = forward_s,
                       .backward_weight_s = share,
                       .activation = share});
      before = end;
    }
  }
  return costs;
}

struct Size {
  int ranks;
  int microbatches;
  int slices;
};

std::vector<Size> sizes() {
  std::vector<Size> all;
  for (const int ranks : {1, 2, 3, 4, 8, 16, 64}) {
    for (const int microbatches : {1, 2, 7, 64, 512}) {
      for (const int slices : {1, 2, 3, 4, 8}) {
        if (ranks < 64 || microbatches < 512) all.push_back({ranks, microbatches, slices});
      }
    }
  }
  all.push_back({64, 512, 8});
  return all;
}

TEST(SequenceSchedules, ByHand) {
  // The two slices of two micro-batches are the units 0 1 | 2 3.
  const Schedule seq = sliced("seq1f1b", 2, 2, 2);
  EXPECT_EQ(listing(seq, 0), "0F0 0F1 0F2 0B1 0F3 0B0 0B3 0B2");
  EXPECT_EQ(listing(seq, 1), "1F0 1F1 1B1 1F2 1B0 1F3 1B3 1B2");
  const Schedule tera = sliced("terapipe", 2, 1, 3);
  EXPECT_EQ(listing(tera, 0), "0F0 0F1 0F2 0B2 0B1 0B0");
  const Schedule interleaved = sliced("seq1f1b", 2, 2, 2, 2);
  EXPECT_EQ(interleaved.chunks, 2);
  EXPECT_EQ(listing(interleaved, 1),
            "1F0 1F1 3F0 3F1 3B1 1F2 3B0 1F3 1B1 3F2 1B0 3F3 3B3 3B2 1B3 1B2");
}

TEST(SequenceSchedules, OneSliceIsThePlainSchedule) {
  for (const int ranks : {1, 2, 5}) {
    const Schedule plain = generate_schedule("1f1b", ranks, 6, 1);
    EXPECT_EQ(sliced("seq1f1b", ranks, 6, 1).actions, plain.actions);
    EXPECT_EQ(sliced("terapipe", ranks, 6, 1).actions,
              generate_schedule("gpipe", ranks, 6, 1).actions);
  }
}

// With equal slices the bubble is exactly (p - 1) T / k, and min(m k, p - 1 + k - r) slices are in
// flight.
TEST(SequenceSchedules, Seq1f1bDividesBubbleAndPeak) {
  for (const auto& [ranks, microbatches, slices] : sizes()) {
    const Schedule schedule = sliced("seq1f1b", ranks, microbatches, slices);
    ASSERT_NO_THROW(validate_schedule(schedule));
    const auto evaluation = evaluate_schedule(schedule, equal_slices(ranks, slices), 0);
    EXPECT_NEAR(evaluation.bubble_makespan_s(), (ranks - 1) * 3.0 / slices,
                kSequenceTolerance * (1 + evaluation.makespan_s))
        << ranks << " " << microbatches << " " << slices;
    for (int rank = 0; rank < ranks; ++rank) {
      const int under_way = std::min(microbatches * slices, ranks - 1 + slices - rank);
      EXPECT_NEAR(evaluation.peak_activation[rank] * slices, under_way, 1e-6);
    }
    // The published peak, (p - 2 + k) / k, is approximate.
    if (ranks - 2 + slices >= 10 && microbatches * slices >= ranks - 1 + slices) {
      const double published = static_cast<double>(ranks - 2 + slices) / slices;
      EXPECT_NEAR(evaluation.peak_activation[0], published, 0.1 * published);
    }
  }
}

// The bubble is (p - 1) (max t_F + max t_B) for any slices, and all activations are kept.
TEST(SequenceSchedules, TerapipeWaitsForTheLongestSlice) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> seconds(0.1, 1);
  for (const auto& [ranks, microbatches, slices] : sizes()) {
    const Schedule schedule = sliced("terapipe", ranks, microbatches, slices);
    ASSERT_NO_THROW(validate_schedule(schedule));
    std::vector<StageCost> slice_costs(slices);
    double longest_forward_s = 0;
    double longest_backward_s = 0;
    for (StageCost& cost : slice_costs) {
      cost = {seconds(random), seconds(random), seconds(random), 1};
      longest_forward_s = std::max(longest_forward_s, cost.forward_s);
      longest_backward_s = std::max(longest_backward_s, cost.backward_s());
    }
    std::vector<StageCost> costs;
    for (int rank = 0; rank < ranks; ++rank) {
      costs.insert(costs.end(), slice_costs.begin(), slice_costs.end());
    }
    const auto evaluation = evaluate_schedule(schedule, costs, 0);
    EXPECT_NEAR(evaluation.bubble_makespan_s(),
                (ranks - 1) * (longest_forward_s + longest_backward_s),
                kSequenceTolerance * (1 + evaluation.makespan_s));
    for (const double peak : evaluation.peak_activation) EXPECT_EQ(peak, microbatches * slices);
  }
}

// Later slices attend to more keys; they are made shorter, so that all take the same time.
TEST(SequenceSchedules, SharesOfEqualWork) {
  for (const int slices : {2, 3, 4, 8}) {
    for (const double attention : {0.1, 1.0, 5.0}) {
      const std::vector<double> equal(slices, 1.0 / slices);
      const int ranks = 3;
      for (const char* name : {"seq1f1b", "terapipe"}) {
        const Schedule schedule =
            generate_schedule(name, {.ranks = ranks,
                                     .microbatches = 2,
                                     .slices = slices,
                                     .costs = causal_slices(ranks, equal, attention)});
        ASSERT_NO_THROW(validate_schedule(schedule));
        const std::vector<double>& shares = schedule.slice_shares;
        ASSERT_EQ(static_cast<int>(shares.size()), slices);
        EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-12);
        EXPECT_TRUE(std::is_sorted(shares.rbegin(), shares.rend()));
        const auto costs = causal_slices(1, shares, attention);
        double sum_s = 0;
        double longest_s = 0;
        for (const StageCost& cost : costs) {
          const double work_s = cost.forward_s + cost.backward_s();
          sum_s += work_s;
          longest_s = std::max(longest_s, work_s);
        }
        EXPECT_NEAR(longest_s, sum_s / slices, 1e-9 * sum_s);
        // Moving a cut never shortens the pipeline.
        for (int cut = 0; cut + 1 < slices; ++cut) {
          for (const double by : {-0.01, 0.01}) {
            auto moved = shares;
            moved[cut] += by;
            moved[cut + 1] -= by;
            double moved_longest_s = 0;
            for (const StageCost& cost : causal_slices(1, moved, attention)) {
              moved_longest_s = std::max(moved_longest_s, cost.forward_s + cost.backward_s());
            }
            EXPECT_GT(moved_longest_s, longest_s);
          }
        }
      }
    }
  }
}

// Slices of equal work still differ in T_F and in T_B, which costs seq1f1b a little in each pair.
TEST(SequenceSchedules, EqualWorkIsFasterThanEqualLength) {
  for (const auto& [ranks, microbatches, slices] : sizes()) {
    if (ranks < 2 || slices < 2 || microbatches < ranks) continue;
    const std::vector<double> equal(slices, 1.0 / slices);
    for (const double attention : {0.1, 1.0, 3.0}) {
      const auto equal_costs = causal_slices(ranks, equal, attention);
      for (const char* name : {"seq1f1b", "terapipe"}) {
        const Schedule schedule = generate_schedule(
            name,
            {.ranks = ranks, .microbatches = microbatches, .slices = slices, .costs = equal_costs});
        const auto costs = causal_slices(ranks, schedule.slice_shares, attention);
        const double balanced_s = evaluate_schedule(schedule, costs, 0).makespan_s;
        EXPECT_LT(balanced_s, evaluate_schedule(schedule, equal_costs, 0).makespan_s) << name;
        const double least_s = (microbatches + (ranks - 1.0) / slices) * (3 + 2 * attention);
        EXPECT_GT(balanced_s, (1 - kSequenceTolerance) * least_s);
      }
    }
  }
}

TEST(SequenceSchedules, InterleavingDividesTheBubbleAgain) {
  for (const int ranks : {2, 4, 8}) {
    for (const int chunks : {2, 3}) {
      for (const int slices : {1, 2}) {
        const int microbatches = 2 * ranks;
        const Schedule schedule = sliced("seq1f1b", ranks, microbatches, slices, chunks);
        ASSERT_NO_THROW(validate_schedule(schedule));
        auto costs = equal_slices(ranks * chunks, slices);
        for (StageCost& cost : costs) {
          cost.forward_s /= chunks;
          cost.backward_input_s /= chunks;
          cost.backward_weight_s /= chunks;
        }
        EXPECT_NEAR(evaluate_schedule(schedule, costs, 0).bubble_makespan_s(),
                    (ranks - 1) * 3.0 / chunks / slices, kSequenceTolerance)
            << ranks << " " << chunks << " " << slices;
      }
    }
  }
}

TEST(SequenceSchedules, RunWithUnevenStages) {
  std::mt19937 random(9);
  std::uniform_real_distribution<double> seconds(0.1, 1);
  for (int round = 0; round < 100; ++round) {
    const int ranks = 1 + static_cast<int>(random() % 12);
    const int slices = 1 + static_cast<int>(random() % 8);
    const int microbatches = 1 + static_cast<int>(random() % 20);
    std::vector<StageCost> costs(static_cast<std::size_t>(ranks) * slices);
    for (StageCost& cost : costs) cost = {seconds(random), seconds(random), seconds(random), 1};
    for (const char* name : {"seq1f1b", "terapipe"}) {
      const Schedule schedule = generate_schedule(
          name, {.ranks = ranks, .microbatches = microbatches, .slices = slices, .costs = costs});
      ASSERT_NO_THROW(validate_schedule(schedule));
      const auto evaluation = evaluate_schedule(schedule, costs, 0.05);
      EXPECT_GE(evaluation.makespan_s, evaluation.max_busy_s());
    }
  }
}

TEST(SequenceSchedules, SayWhyTheyCannot) {
  EXPECT_THAT(error_of([] { sliced("seq1f1b", 2, 4, 3, 2); }),
              ::testing::HasSubstr("make the slices a divisor of the ranks"));
  EXPECT_THAT(error_of([] { sliced("terapipe", 2, 4, 2, 2); }),
              ::testing::HasSubstr("one model chunk per rank, not 2"));
}

}  // namespace
}  // namespace windtunnel
