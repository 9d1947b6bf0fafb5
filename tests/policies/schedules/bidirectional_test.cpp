// Schedules of two pipelines in opposite directions: orders by hand, bubbles and peaks by formula.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/policies/schedules/generated_schedule.hpp"

namespace windtunnel {
namespace {

constexpr double kTolerance = 1e-8;
const StageCost kSame{1, 0.5, 0.5, 1, 0.5};  // backward as long as forward
const StageCost kUsual{1, 1, 1, 1, 0.5};     // twice as long

double worst(const std::vector<double>& peaks) {
  return *std::ranges::max_element(peaks);
}
double least(const std::vector<double>& peaks) {
  return *std::ranges::min_element(peaks);
}

// Even, and where `whole` a multiple of the ranks.
std::vector<ScheduleSize> even_sizes(bool whole) {
  std::vector<ScheduleSize> sizes;
  for (const auto& [p, m] : schedule_sizes()) {
    const int ranks = p + p % 2;
    const int step = whole ? ranks : 2;
    sizes.push_back({ranks, std::max(m / step, 1) * step});
  }
  return sizes;
}

// Figure 3 of the paper: four ranks, micro-batches 0 and 1 down, 2 and 3 up.
TEST(Bidirectional, ChimeraByHand) {
  const Schedule schedule = generate_schedule("chimera", 4, 4, 1);
  EXPECT_EQ(schedule.rank_of_stage, (std::vector<int>{0, 1, 2, 3, 3, 2, 1, 0}));
  EXPECT_EQ(listing(schedule, 0), "0F0 0F1 7F2 7B2 7F3 7B3 0B0 0B1");
  EXPECT_EQ(listing(schedule, 1), "1F0 6F2 1F1 6F3 6B2 1B0 6B3 1B1");
  EXPECT_EQ(listing(schedule, 3), "4F2 4F3 3F0 3B0 3F1 3B1 4B2 4B3");
}

TEST(Bidirectional, DualPipeByHand) {
  const Schedule schedule = generate_schedule("dualpipe", 2, 4, 1);
  EXPECT_EQ(schedule.rank_of_stage, (std::vector<int>{0, 1, 1, 0}));
  EXPECT_EQ(listing(schedule, 0), "0F0 3F2 0F1 3B2 3F3 0B0 3B3 0I1 0W1");
  EXPECT_EQ(listing(schedule, 1), "2F2 1F0 2F3 1B0 1F1 2B2 1B1 2I3 2W3");
  for (const auto& actions : schedule.actions) {
    for (size_t i = 0; i < actions.size(); ++i) EXPECT_EQ(actions[i].with_next, i == 4);
  }
}

// The forwards of four ranks as a comment of the published code lists them (bitpipe_schedule.py,
// 6fb0e22f): there 0, 1 are the first chunk of two micro-batches down and 4, 5 their second, 2, 3
// and 6, 7 those up.
TEST(Bidirectional, BitPipeForwardsArePublished) {
  const Schedule schedule = generate_schedule("bitpipe", 4, 4, 2);
  const std::vector<std::vector<int>> published = {{0, 1, 2, 6, 3, 7, 4, 5},
                                                   {0, 2, 1, 3, 6, 4, 7, 5},
                                                   {2, 0, 3, 1, 4, 6, 5, 7},
                                                   {2, 3, 0, 4, 1, 5, 6, 7}};
  for (int rank = 0; rank < 4; ++rank) {
    std::vector<int> forwards;
    for (const Action& action : schedule.actions[rank]) {
      if (action.kind != ActionKind::forward) continue;
      const int second_chunk = schedule.model_stage(action.stage) < 4 ? 0 : 4;
      forwards.push_back(second_chunk + action.unit);
    }
    EXPECT_EQ(forwards, published[rank]) << rank;
  }
  EXPECT_EQ(listing(schedule, 1),
            "1F0 10F2 1F1 10F3 13F2 6F0 13F3 6F1 6B0 13B2 6B1 13B3 10B2 1B0 10B3 1B1");
}

// With T_F = T_B (p - 2) / (2m + p - 2) for any number of units; with T_B = 2 T_F
// (p - 2) / (3m/2 + p - 2) for one. Then each further unit brings a bubble of p - 2 forwards in the
// middle, see the next test.
TEST(Bidirectional, ChimeraBubble) {
  for (const auto& [p, m] : even_sizes(true)) {
    SCOPED_TRACE(fmt::format("{} {}", p, m));
    const Schedule schedule = generate_schedule("chimera", p, m, 1);
    const ScheduleEvaluation same = evaluate_equal(schedule, kSame);
    EXPECT_NEAR(same.bubble_makespan_s() / same.makespan_s, (p - 2) / (2.0 * m + p - 2),
                kTolerance);
    const ScheduleEvaluation usual = evaluate_equal(schedule, kUsual);
    const int units = m / p;
    EXPECT_NEAR(usual.bubble_makespan_s(), (units + 1) * (p - 2), kTolerance);
    if (units == 1) {
      EXPECT_NEAR(usual.bubble_makespan_s() / usual.makespan_s, (p - 2) / (1.5 * m + p - 2),
                  kTolerance);
    }
    EXPECT_NEAR(worst(usual.peak_activation), p, kTolerance);
    EXPECT_NEAR(least(usual.peak_activation), p / 2.0 + 1, kTolerance);
  }
}

// Forward doubling: no bubbles between units where T_B = 2 T_F either, for twice the activations.
TEST(Bidirectional, ChimeraWithForwardDoubling) {
  EXPECT_EQ(listing(generate_schedule("chimera",
                                      {.ranks = 2, .microbatches = 6, .chunks = 1, .group = 2}),
                    0),
            "0F0 0F1 3F3 3F4 3B3 3B4 0B0 0B1 0F2 3F5 3B5 0B2");
  for (const auto& [p, m] : even_sizes(true)) {
    SCOPED_TRACE(fmt::format("{} {}", p, m));
    const Schedule schedule =
        generate_schedule("chimera", {.ranks = p, .microbatches = 2 * m, .chunks = 1, .group = 2});
    const ScheduleEvaluation usual = evaluate_equal(schedule, kUsual);
    EXPECT_NEAR(usual.bubble_makespan_s() / usual.makespan_s, (p - 2) / (4.0 * m + p - 2),
                kTolerance);
    EXPECT_NEAR(worst(usual.peak_activation), 2 * p, kTolerance);
  }
}

// (p - 2) / (3m + p - 2) for one unit and T_B = 2 T_F, at any p. Units that are concatenated as the
// published code does it add half of that each, less one.
TEST(Bidirectional, BitPipeBubble) {
  for (const auto& [p, m] : even_sizes(true)) {
    SCOPED_TRACE(fmt::format("{} {}", p, m));
    const ScheduleEvaluation usual = evaluate_equal(generate_schedule("bitpipe", p, m, 2), kUsual);
    const int units = m / p;
    EXPECT_NEAR(usual.bubble_makespan_s(), (units + 1) * (p - 2) / 2.0, kTolerance);
    if (units == 1) {
      EXPECT_NEAR(usual.bubble_makespan_s() / usual.makespan_s, (p - 2) / (3.0 * m + p - 2),
                  kTolerance);
    }
    EXPECT_NEAR(worst(usual.peak_activation), p, kTolerance);
    // The paper's (p + 3) / 2 holds at p = 4. In the published code the rank at the end runs 3p/2
    // forwards of half an activation and one more before its first backward.
    EXPECT_NEAR(least(usual.peak_activation), (3 * p + 2) / 4.0, kTolerance);
  }
}

// (p/2 - 1) (T_FB + T_B+W - 3 T_W), see the test of DualPipeV; weights held twice, p + 1
// activations on every rank.
TEST(Bidirectional, DualPipeBubble) {
  for (const auto& [p, m] : even_sizes(false)) {
    if (m < 2 * p) continue;
    const Schedule schedule = generate_schedule("dualpipe", p, m, 1);
    for (const StageCost& whole :
         {kUsual, StageCost{1, 1.3, 0.7, 1, 0.5}, StageCost{2, 3, 2, 1, 0.5}}) {
      for (const double hideable : {0.0, 0.1, 0.3}) {
        SCOPED_TRACE(fmt::format("{} {} {} {}", p, m, whole.backward_input_s, hideable));
        StageCost cost = whole;
        cost.forward_hideable_s = hideable * cost.forward_s;
        cost.backward_hideable_s = hideable * cost.backward_s();
        const double pair_s = overlapped_s(cost, cost, cost.backward_s());
        const double bubble_s =
            (p / 2.0 - 1) * (pair_s + cost.backward_s() - 3 * cost.backward_weight_s);
        const ScheduleEvaluation evaluation = evaluate_equal(schedule, cost);
        const double against_least_s = evaluation.makespan_s - least(evaluation.busy_s);
        EXPECT_LE(against_least_s, bubble_s + kTolerance);
        if (cost.forward_s == cost.backward_input_s) {
          EXPECT_NEAR(against_least_s, bubble_s, kTolerance);
        }
        EXPECT_NEAR(worst(evaluation.peak_activation), p + 1, kTolerance);
        EXPECT_NEAR(least(evaluation.peak_activation), p + 1, kTolerance);
      }
    }
  }
}

// No bound where weight gradients are longer than input gradients: the drain waits for them.
TEST(Bidirectional, DualPipeWithLongWeightGradients) {
  const StageCost cost{1, 0.6, 1.3, 1, 0.5};
  const ScheduleEvaluation evaluation =
      evaluate_equal(generate_schedule("dualpipe", 8, 32, 1), cost);
  EXPECT_GT(evaluation.bubble_makespan_s(), 3 * (1 + 1.9 + 1.9 - 3 * 1.3));
}

TEST(Bidirectional, CrossingsAndCopies) {
  for (const int p : {2, 4, 64}) {
    for (const char* const name : {"chimera", "dualpipe", "bitpipe"}) {
      const bool vee = std::string(name) == "bitpipe";
      const Schedule schedule = generate_schedule(name, p, 2 * p, vee ? 2 : 1);
      EXPECT_EQ(crossings(schedule), (vee ? 4 : 2) * (p - 1)) << name;
      EXPECT_EQ(schedule.directions, 2);
      // Every rank holds the stages of the mirrored rank too.
      for (int stage = 0; stage < schedule.model_stages(); ++stage) {
        EXPECT_EQ(
            schedule.rank_of_stage[stage] + schedule.rank_of_stage[schedule.model_stages() + stage],
            p - 1);
      }
    }
  }
}

TEST(Bidirectional, SoundWithAnyCosts) {
  int sample = 0;
  for (const auto& [p, m] : even_sizes(false)) {
    for (const int group : {1, 2, 3}) {
      const ScheduleRequest request{.ranks = p, .microbatches = m, .chunks = 1, .group = group};
      expect_sound(generate_schedule("chimera", request), ++sample);
    }
    if (m >= 2 * p) expect_sound(generate_schedule("dualpipe", p, m, 1), ++sample);
  }
  for (const auto& [p, m] : even_sizes(true)) {
    expect_sound(generate_schedule("bitpipe", p, m, 2), ++sample);
  }
}

TEST(Bidirectional, SaysWhyWhenItCannot) {
  for (const char* const name : {"chimera", "dualpipe"}) {
    EXPECT_THAT(error_of([&] { generate_schedule(name, 3, 6, 1); }),
                testing::HasSubstr("even number of pipeline ranks, not 3"));
    EXPECT_THAT(error_of([&] { generate_schedule(name, 2, 5, 1); }),
                testing::HasSubstr("even number of micro-batches"));
  }
  EXPECT_THAT(error_of([] { generate_schedule("dualpipe", 4, 6, 1); }),
              testing::HasSubstr("4 ranks need 8 or more, not 6"));
  EXPECT_THAT(error_of([] { generate_schedule("bitpipe", 3, 6, 2); }),
              testing::HasSubstr("even number of pipeline ranks, not 3"));
  EXPECT_THAT(error_of([] { generate_schedule("bitpipe", 4, 6, 2); }),
              testing::HasSubstr("6 is no multiple of 4"));
  EXPECT_THAT(error_of([] { generate_schedule("bitpipe", 4, 8, 4); }),
              testing::HasSubstr("2 model chunks per rank, not 4"));
}

}  // namespace
}  // namespace windtunnel
