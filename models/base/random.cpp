#include "models/base/random.hpp"

#include <Random123/philox.h>

#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <numbers>

namespace windtunnel {

RandomStream::RandomStream(std::uint64_t seed, RandomPurpose purpose, std::uint64_t index)
    : seed_(seed), purpose_(static_cast<std::uint32_t>(purpose)), index_(index) {}

std::uint64_t RandomStream::next() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const r123::Philox4x32::ctr_type counter = {{counter_++, purpose_,
                                               static_cast<std::uint32_t>(index_),
                                               static_cast<std::uint32_t>(index_ >> 32)}};
  const r123::Philox4x32::key_type key = {
      {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)}};
  const auto block = r123::Philox4x32()(counter, key);
  spare_ = (std::uint64_t{block[2]} << 32) | block[3];
  has_spare_ = true;
  return (std::uint64_t{block[0]} << 32) | block[1];
}

double RandomStream::uniform() {
  // 52 bits, centred in their cell: never 0 and never 1, so logarithms are finite.
  return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52;
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
}

double RandomStream::exponential(double mean) {
  return -mean * std::log(uniform());
}

double RandomStream::normal() {
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * uniform());
}

// Marsaglia, Tsang 2000 (ACM Trans. Math. Softw. 26, 363): a squeezed cube of a normal; the inverse
// CDF takes ten times as long. Below shape 1 from shape + 1, by their section 6.
double RandomStream::gamma(double shape, double mean) {
  if (shape < 1) {
    const double above = gamma(shape + 1, 1) * (shape + 1);
    return mean / shape * above * std::pow(uniform(), 1 / shape);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal();
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(uniform()) < 0.5 * x * x + d * (1 - v + std::log(v))) return mean / shape * d * v;
  }
}

double RandomStream::weibull(double shape, double mean) {
  const double scale = mean / std::tgamma(1 + 1 / shape);
  return scale * std::pow(-std::log(uniform()), 1 / shape);
}

double RandomStream::weibull_residual(double shape, double mean) {
  // The residual's survival is the integral of the gap's survival beyond x, over the mean:
  // Q(1/shape, (x/scale)^shape), with Q the regularised upper incomplete gamma function
  // (Cox, Renewal Theory, 1962, section 5.1).
  const double scale = mean / std::tgamma(1 + 1 / shape);
  return scale * std::pow(boost::math::gamma_q_inv(1 / shape, uniform()), 1 / shape);
}

}  // namespace windtunnel
