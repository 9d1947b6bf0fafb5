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

}  // namespace
}  // namespace windtunnel
