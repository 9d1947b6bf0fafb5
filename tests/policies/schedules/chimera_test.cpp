#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/policies/schedules/generated_schedule.hpp"

namespace windtunnel {
namespace {

// Figure 3 of the paper shows four ranks, with micro-batches 0 and 1 going down and 2 and 3 going
// up.
TEST(Chimera, ByHand) {
  const Schedule schedule = generate_schedule("chimera", 4, 4, 1);
  EXPECT_EQ(schedule.rank_of_stage, (std::vector<int>{0, 1, 2, 3, 3, 2, 1, 0}));
  EXPECT_EQ(listing(schedule, 0), "0F0 0F1 7F2 7B2 7F3 7B3 0B0 0B1");
  EXPECT_EQ(listing(schedule, 1), "1F0 6F2 1F1 6F3 6B2 1B0 6B3 1B1");
  EXPECT_EQ(listing(schedule, 3), "4F2 4F3 3F0 3B0 3F1 3B1 4B2 4B3");
}

// With T_F = T_B the bubble is (p - 2) / (2m + p - 2) for any number of units; with T_B = 2 T_F it
// is (p - 2) / (3m/2 + p - 2) for one unit. Each further unit then adds a bubble of p - 2 forwards
// in the middle, which the next test avoids.
TEST(Chimera, Bubble) {
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

// Forward doubling leaves no bubbles between units even if T_B = 2 T_F, but doubles the
// activations.
TEST(Chimera, WithForwardDoubling) {
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

}  // namespace
}  // namespace windtunnel
