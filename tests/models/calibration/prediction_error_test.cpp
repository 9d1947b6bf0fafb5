#include "models/calibration/prediction_error.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/base/quantile.hpp"

namespace windtunnel {
namespace {

Parameter known_from(double errors, double value) {
  const double factor = std::exp(kNormal95 / std::sqrt(2 * errors));
  return {value, value / factor, value * factor, Origin::measured, ""};
}

TEST(PredictionError, AnIntervalSaysFromHowManyErrorsItIsKnown) {
  for (const double errors : {1.0, 4.0, 10.0, 100.0}) {
    EXPECT_NEAR(freedom_of(known_from(errors, 0.1)), errors, 1e-9 * errors);
  }
}

// Quantiles of Student's t as tables print them: 2.228 (10 errors, 95 %), 1.812 (10, 90 %); of the
// normal distribution 1.960.
TEST(PredictionError, FewErrorsMakeIntervalsWider) {
  EXPECT_NEAR(std::log(error_factor(known_from(10, 0.1), 0.95)), 0.2228, 1e-4);
  EXPECT_NEAR(std::log(error_factor(known_from(10, 0.1), 0.9)), 0.1812, 1e-4);
  EXPECT_NEAR(std::log(error_factor({0.1, 0.1, 0.1, Origin::measured, ""}, 0.95)), 0.1960, 1e-4);
  EXPECT_EQ(error_factor({0, 0, 0, Origin::measured, ""}, 0.95), 1);
}

TEST(PredictionError, IndependentSpreadsAddUpAsVariancesDo) {
  const Parameter none = {0, 0, 0, Origin::measured, "test"};
  const Parameter sure = {0.1, 0.1, 0.1, Origin::measured, "test"};
  const StepSpread uneven = {.shorter = 0.2, .longer = 0.5};
  const double own = std::log(error_factor(sure, 0.95));
  const double part = 1.959964 / 1.644854;  // from 90 % to 95 %
  const ErrorFactors both = error_factors(sure, 0.95, uneven);
  EXPECT_NEAR(std::log(both.shorter), std::hypot(own, part * 0.2), 1e-4);
  EXPECT_NEAR(std::log(both.longer), std::hypot(own, part * 0.5), 1e-4);
  EXPECT_NEAR(std::log(error_factors(none, 0.9, uneven).longer), 0.5, 1e-4);
}

TEST(PredictionError, FewerErrorsTellLessAndTheLargerErrorCounts) {
  const Parameter few = error_told_by(0.1, 3, "three");
  const Parameter many = error_told_by(0.1, 300, "many");
  EXPECT_GT(error_factor(few, 0.9), error_factor(many, 0.9));
  EXPECT_EQ(larger_error(few, many).source, "three");
  EXPECT_EQ(larger_error(error_told_by(0.2, 300, "wide"), few).source, "wide");
}

}  // namespace
}  // namespace windtunnel
