#include "models/results/step_range.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace windtunnel {
namespace {

IterationReport step_of(double hfu_causal) {
  IterationReport step;
  step.error = {0.1, 0.1, 0.1, Origin::measured, "test"};
  step.host_spread = {.shorter = 0.2, .longer = 0.5};
  step.hfu_causal = hfu_causal;
  return step;
}

// The range includes the spread of the host's time.
TEST(StepRange, IsThatOfTheErrorWhereThePeakIsFar) {
  const IterationReport step = step_of(0.4);
  const ErrorFactors law = error_factors(step.error, 0.95, step.host_spread);
  EXPECT_DOUBLE_EQ(step_factors(step, 0.95).shorter, law.shorter);
  EXPECT_DOUBLE_EQ(step_factors(step, 0.95).longer, law.longer);
  EXPECT_LT(step_factors(step, 0.5).shorter, law.shorter);
}

// The errors of measured runs contain a part of what hosts differ by.
TEST(StepRange, DoesNotCountTheHostTwice) {
  IterationReport step = step_of(0.4);
  step.familiarity.families = 3;
  const ErrorFactors third = error_factors(step.error, 0.95, {0.2 / 3, 0.5 / 3});
  EXPECT_DOUBLE_EQ(step_factors(step, 0.95).longer, third.longer);
  EXPECT_DOUBLE_EQ(step_factors(step, 0.95).shorter, third.shorter);
  EXPECT_LT(third.longer, step_factors(step_of(0.4), 0.95).longer);
}

// If FLOPs are unknown the peak does not limit the range.
TEST(StepRange, ItsFastEndIsHeldAtThePeak) {
  EXPECT_DOUBLE_EQ(step_factors(step_of(0.95), 0.95).shorter, 1 / 0.95);
  EXPECT_DOUBLE_EQ(step_factors(step_of(1.01), 0.95).shorter, 1);
  const ErrorFactors law = unheld_step_factors(step_of(0.95), 0.95);
  EXPECT_GT(law.shorter, std::exp(0.2));
  EXPECT_DOUBLE_EQ(step_factors(step_of(0.95), 0.95).longer, law.longer);
  EXPECT_DOUBLE_EQ(step_factors(step_of(0), 0.95).shorter, law.shorter);
}

}  // namespace
}  // namespace windtunnel
