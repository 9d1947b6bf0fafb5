#include "models/calibration/prediction_error.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <utility>

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

double chance_above(const Parameter& error, double factor) {
  if (error.value <= 0) return factor < 1 ? 1 : 0;
  const boost::math::students_t distribution(freedom_of(error));
  return boost::math::cdf(boost::math::complement(distribution, std::log(factor) / error.value));
}

Parameter error_told_by(double deviation, int errors, std::string source) {
  const double uncertain = std::exp(kNormal95 / std::sqrt(2.0 * errors));
  return {deviation, deviation / uncertain, deviation * uncertain, Origin::measured,
          std::move(source)};
}

const Parameter& larger_error(const Parameter& one, const Parameter& other) {
  return error_factor(one, kReportedShare) < error_factor(other, kReportedShare) ? other : one;
}

ErrorFactors error_factors(const Parameter& error, double covered, const StepSpread& spread) {
  const double own = std::log(error_factor(error, covered));
  const boost::math::normal normal;
  const double part = boost::math::quantile(normal, (1 + covered) / 2) / kNormal95;
  return {std::exp(std::hypot(own, part * spread.shorter)),
          std::exp(std::hypot(own, part * spread.longer))};
}

}  // namespace windtunnel
