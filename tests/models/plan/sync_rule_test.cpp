#include "models/plan/sync_rule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace windtunnel {
namespace {

TEST(SyncRule, AConstantRateGivesOnePeriod) {
  const std::vector<LearningRate> rates = {{0, 0.01}, {1000, 0.01}};
  EXPECT_EQ(quadratic_period_steps(rates, 4, 0.01), 4);   // below the base
  EXPECT_EQ(quadratic_period_steps(rates, 4, 0.05), 25);  // (0.05 / 0.01)^2
  EXPECT_EQ(quadratic_period_steps(rates, 4, 1), 1000);   // a single exchange, at the end
  EXPECT_EQ(quadratic_period_steps(rates, 2000, 1), 1000);
}

TEST(SyncRule, PeriodsGrowAsTheRateFalls) {
  const std::vector<LearningRate> falling = {{0, 0.01}, {10000, 0}};
  const double mean = quadratic_period_steps(falling, 4, 0.02);
  // Exchanges per step are (rate / alpha)^2, on average a third of the first value. Rounding
  // periods down, and using the rate at the start of a period, add a little.
  EXPECT_LT(mean, 12);
  EXPECT_GT(mean, 10.5);
  EXPECT_LT(mean, quadratic_period_steps(falling, 4, 0.03));
  EXPECT_LE(mean, quadratic_period_steps(falling, 8, 0.02));
}

// The paper trains ViT-B with a cosine from 0.008, alpha 0.0175, base 4, and 300 epochs of 312
// steps.
TEST(SyncRule, ACosineSavesNineTenthsOfTheExchanges) {
  std::vector<LearningRate> rates;
  constexpr double kSteps = 93600;
  for (int i = 0; i <= 300; ++i) {
    rates.push_back({kSteps * i / 300, 0.004 * (1 + std::cos(std::numbers::pi * i / 300))});
  }
  // Without the base period, exchanges per step would be the mean of (rate / alpha)^2, 3/8 of the
  // first value, plus what rounding each period down adds.
  const double exchanges = 1 / quadratic_period_steps(rates, 4, 0.0175);
  EXPECT_GT(exchanges, 3.0 / 8 * std::pow(0.008 / 0.0175, 2));
  EXPECT_LT(exchanges, 0.25);
  std::printf("exchanges a step: %.4f\n", exchanges);
}

}  // namespace
}  // namespace windtunnel
