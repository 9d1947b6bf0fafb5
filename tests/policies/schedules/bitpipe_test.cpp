#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/policies/schedules/generated_schedule.hpp"

namespace windtunnel {
namespace {

// A comment of the published code lists the forward passes of four ranks (bitpipe_schedule.py,
// 6fb0e22f). In it 0, 1 are the first chunk of two micro-batches going down and 4, 5 their second
// chunk; 2, 3 and 6, 7 are those going up.
TEST(BitPipe, ForwardsArePublished) {
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

// The bubble is (p - 2) / (3m + p - 2) for one unit with T_B = 2 T_F, at any p. Concatenating units
// as in the published code adds half of that for each further unit.
TEST(BitPipe, Bubble) {
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
    // The paper's (p + 3) / 2 is right for p = 4. In the published code the last rank runs 3p/2
    // forwards of half an activation each, and one more, before its first backward.
    EXPECT_NEAR(least(usual.peak_activation), (3 * p + 2) / 4.0, kTolerance);
  }
}

}  // namespace
}  // namespace windtunnel
