#include "models/calibration/prediction_error.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "models/base/quantile.hpp"

namespace windtunnel {

double freedom_of(const Parameter& error) {
  if (error.low <= 0 || error.low >= error.high) return 1e6;
  const double spread = std::log(error.high / error.low) / (2 * kNormal95);
  return std::max(1.0, 1 / (2 * spread * spread));
}

double error_factor(const Parameter& error, double covered) {
  const boost::math::students_t distribution(freedom_of(error));
  return std::exp(boost::math::quantile(distribution, (1 + covered) / 2) * error.value);
}

StepSpread widened(const StepSpread& spread, double deviation) {
  const double more = kNormal95 * deviation;
  return {std::hypot(spread.shorter, more), std::hypot(spread.longer, more)};
}

ErrorFactors error_factors(const Parameter& error, double covered, const StepSpread& spread) {
  const double own = std::log(error_factor(error, covered));
  const boost::math::normal normal;
  const double part = boost::math::quantile(normal, (1 + covered) / 2) / kNormal95;
  return {std::exp(std::hypot(own, part * spread.shorter)),
          std::exp(std::hypot(own, part * spread.longer))};
}

}  // namespace windtunnel
