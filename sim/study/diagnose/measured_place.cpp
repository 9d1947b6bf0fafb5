#include "sim/study/diagnose/measured_place.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace windtunnel {
namespace {

constexpr double kCovered = 0.9;
constexpr double kLeastScale = 0.005;  // a calibration without a stated error is not exact

}  // namespace

MeasuredPlace::MeasuredPlace(const Parameter& error, const StepSpread& spread)
    : freedom_(freedom_of(error)) {
  const boost::math::students_t law(freedom_);
  const double at = boost::math::quantile(law, (1 + kCovered) / 2);
  const ErrorFactors off = error_factors(error, kCovered, spread);
  shorter_ = std::max(kLeastScale, std::log(off.shorter) / at);
  longer_ = std::max(kLeastScale, std::log(off.longer) / at);
}

double MeasuredPlace::scaled(double ratio) const {
  return std::log(ratio) / (ratio < 1 ? shorter_ : longer_);
}

double MeasuredPlace::below(double ratio) const {
  return boost::math::cdf(boost::math::students_t(freedom_), scaled(ratio));
}

double MeasuredPlace::log_density(double ratio) const {
  const double density = boost::math::pdf(boost::math::students_t(freedom_), scaled(ratio));
  return std::log(std::max(density, 1e-300)) - std::log(ratio < 1 ? shorter_ : longer_);
}

}  // namespace windtunnel
