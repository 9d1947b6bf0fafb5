#include "models/machine/order_statistics.hpp"

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <numbers>

namespace windtunnel {

Moments moments_of_order(double n, double k, const Quantile& quantile) {
  const double above_k = n - k + 1;
  const double spread = std::sqrt((n + 1) / (k * above_k));  // of the logarithm, near its mode
  const double mode = std::log(k / above_k);
  // Beyond these limits lies less than e^-40 of the density, even times the growth of a heavy tail
  // (exponent 1.5).
  const double begin = mode - 9 * spread - 40 / k;
  const double end = mode + 9 * spread + 120 / above_k;
  const double step = std::min(spread, 1.0) / 8;
  const auto density = [&](double x) {
    const double log_below = -std::log1p(std::exp(-x));
    const double log_above = -std::log1p(std::exp(x));
    return k * log_below + above_k * log_above;
  };
  const double highest = density(mode);
  double weight = 0;
  double first = 0;
  double second = 0;
  for (double x = begin; x <= end; x += step) {
    const double mass = std::exp(density(x) - highest);
    const double value = quantile(1 / (1 + std::exp(-x)), 1 / (1 + std::exp(x)));
    weight += mass;
    first += mass * value;
    second += mass * value * value;
  }
  const double mean = first / weight;
  return {mean, std::max(0.0, second / weight - mean * mean)};
}

double normal_quantile(double below, double above) {
  return below < above ? -std::numbers::sqrt2 * boost::math::erfc_inv(2 * below)
                       : std::numbers::sqrt2 * boost::math::erfc_inv(2 * above);
}

double expected_normal_order(double n, double k) {
  return moments_of_order(n, k, normal_quantile).mean;
}

double expected_exponential_order(double n, double k) {
  return boost::math::digamma(n + 1) - boost::math::digamma(n - k + 1);
}

double expected_pareto_order(double n, double k, double exponent) {
  const double left = n - k + 1 - 1 / exponent;
  if (left <= 0) return std::numeric_limits<double>::infinity();
  return std::exp(boost::math::lgamma(n + 1) - boost::math::lgamma(n - k + 1) +
                  boost::math::lgamma(left) - boost::math::lgamma(n + 1 - 1 / exponent));
}

double binomial_chance(double n, double k, double share) {
  if (share <= 0) return k == 0 ? 1 : 0;
  if (share >= 1) return k == n ? 1 : 0;
  return std::exp(boost::math::lgamma(n + 1) - boost::math::lgamma(k + 1) -
                  boost::math::lgamma(n - k + 1) + k * std::log(share) +
                  (n - k) * std::log1p(-share));
}

}  // namespace windtunnel
