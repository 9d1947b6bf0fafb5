#include "models/base/quantile.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

TEST(Quantile, IsLinearBetweenValues) {
  EXPECT_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(quantile({3, 1, 2}, 1), 3);
  EXPECT_EQ(quantile({3, 1, 2}, 0), 1);
  EXPECT_NEAR(quantile({0, 10}, 0.1), 1, 1e-12);
  EXPECT_EQ(median({4, 1, 2, 8}), 3);
  EXPECT_EQ(quantile_of_sorted({7}, 0.3), 7);
}

// The test draws 4,000 medians of 101 values each.
TEST(Quantile, SpreadAndMedianOfANormalLaw) {
  constexpr double kSd = 0.3;
  constexpr std::size_t kValues = 101;
  constexpr int kTurns = 4000;
  RandomStream random(14, RandomPurpose::test, 0);
  double squares = 0;
  double spreads = 0;
  double within = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    std::vector<double> values;
    std::vector<double> distances;
    for (std::size_t i = 0; i < kValues; ++i) {
      values.push_back(kSd * random.normal());
      distances.push_back(std::abs(values.back()));
      within += distances.back() < kNormal95 * kSd;
    }
    squares += std::pow(median(values), 2);
    spreads += normal_spread(distances);
  }
  EXPECT_NEAR(within / kTurns / kValues, 0.9, 0.002);
  EXPECT_NEAR(spreads / kTurns, kSd, 0.01 * kSd);
  EXPECT_NEAR(std::sqrt(squares / kTurns), error_of_median(kSd, kValues),
              0.04 * error_of_median(kSd, kValues));
}

}  // namespace
}  // namespace windtunnel
