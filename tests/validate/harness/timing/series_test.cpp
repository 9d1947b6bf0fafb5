#include <gtest/gtest.h>

#include <cmath>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "validate/harness/timing/measure.hpp"

namespace windtunnel {
namespace {

TEST(Series, OfEqualTimingsIsCertain) {
  const SeriesSummary summary = summarise(std::vector<double>(10, 2.0), 1);
  EXPECT_EQ(summary.median_s, 2);
  EXPECT_EQ(summary.half_width(), 0);
  EXPECT_EQ(summary.p05_s, 2);
  EXPECT_EQ(summary.p95_s, 2);
}

// About 95 of 100 intervals at 95 % must hold the median of a skewed law.
TEST(Series, IntervalsHoldTheMedianAsOftenAsTheySay) {
  constexpr int kRounds = 400;
  const double true_median = std::log(2.0);  // exponential, mean 1
  int held = 0;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    RandomStream random(round, RandomPurpose::test, 0);
    std::vector<double> seconds(40);
    for (double& value : seconds) value = random.exponential(1);
    const SeriesSummary summary = summarise(seconds, round);
    EXPECT_LE(summary.low_s, summary.median_s);
    EXPECT_GE(summary.high_s, summary.median_s);
    if (summary.low_s <= true_median && true_median <= summary.high_s) ++held;
  }
  EXPECT_GT(held, 0.90 * kRounds);
  EXPECT_LT(held, 0.985 * kRounds);
}

TEST(Series, MoreTimingsNarrowTheInterval) {
  RandomStream random(5, RandomPurpose::test, 0);
  std::vector<double> seconds(400);
  for (double& value : seconds) value = std::exp(0.1 * random.normal());
  const double wide = summarise({seconds.begin(), seconds.begin() + 25}, 1).half_width();
  EXPECT_LT(summarise(seconds, 1).half_width(), wide / 2);
  EXPECT_THROW(summarise({}, 1), InternalError);
}

}  // namespace
}  // namespace windtunnel
