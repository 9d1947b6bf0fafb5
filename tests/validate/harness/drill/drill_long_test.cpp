#include <fmt/format.h>
#include <gtest/gtest.h>

#include "models/base/quantile.hpp"
#include "tests/validate/harness/drill/random_drill.hpp"

namespace windtunnel {
namespace {

TEST(DrillLong, TwoHundredRandomKillsEndAsForeseen) {
  const DrillCount counted = run_random_drills(1000, 200);
  EXPECT_GE(counted.recovered, 100);
  EXPECT_GE(counted.unrecoverable, 20);
  EXPECT_LE(median(counted.time_errors), 0.15);
  RecordProperty("median_time_error", fmt::format("{:.3f}", median(counted.time_errors)));
  fmt::print("{} recovered, {} not; recovery times foreseen within {:.1f} % in the median\n",
             counted.recovered, counted.unrecoverable, 100 * median(counted.time_errors));
}

}  // namespace
}  // namespace windtunnel
