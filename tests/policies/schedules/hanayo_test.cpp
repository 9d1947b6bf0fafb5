#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/policies/schedules/generated_schedule.hpp"

namespace windtunnel {
namespace {

// For m = p, backward passes twice as long as forward ones and at least two waves W, bubble /
// makespan is (2p - 2) / (3pW + p - 1) within 10 %. With one wave the order is better than the
// formula: (p - 1) / (5p/2 - 1).
TEST(Hanayo, Bubble) {
  for (int p = 1; p <= 64; ++p) {
    for (int waves = 1; waves <= 4; ++waves) {
      SCOPED_TRACE(fmt::format("{} {}", p, waves));
      const ScheduleEvaluation evaluation =
          evaluate_equal(generate_schedule("hanayo", p, p, 2 * waves), kUsual);
      const double rate = evaluation.bubble_makespan_s() / evaluation.makespan_s;
      if (waves == 1) {
        EXPECT_NEAR(rate, (p - 1) / (2.5 * p - 1), kTolerance);
      } else {
        const double published = (2.0 * p - 2) / (3.0 * p * waves + p - 1);
        EXPECT_NEAR(rate, published, 0.1 * published + kTolerance);
        EXPECT_NEAR(rate, published, 0.02);
      }
      EXPECT_NEAR(worst(evaluation.peak_activation), p, kTolerance);
    }
  }
}

// With more micro-batches than ranks at most p are in flight, and the share of bubbles is no
// larger.
TEST(Hanayo, WithManyMicrobatches) {
  for (const auto& [p, m] : schedule_sizes()) {
    for (const int chunks : {2, 4, 8}) {
      const ScheduleEvaluation flight =
          evaluate_equal(generate_schedule("hanayo", p, p, chunks), kUsual);
      const int flights = (m + p - 1) / p;
      const ScheduleEvaluation many =
          evaluate_equal(generate_schedule("hanayo", p, m, chunks), kUsual);
      EXPECT_LE(many.makespan_s, flights * flight.makespan_s + kTolerance) << p << " " << m;
      EXPECT_LE(worst(many.peak_activation), p + kTolerance) << p << " " << m;
    }
  }
}

}  // namespace
}  // namespace windtunnel
