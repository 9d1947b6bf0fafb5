#include "models/machine/jitter.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

// The three laws as two: a log-normal, or 1 and `slowdown` with probability `share`, whose
// neighbours in time correlate by `memory`.
struct TwoFactors {
  double share = 0;
  double slowdown = 1;
  double memory = 0;
};

TwoFactors two_factors(const Jitter& jitter) {
  if (jitter.bursts.good == 0) return {jitter.share, jitter.slowdown, 0};
  const double to_bad = 1 / jitter.bursts.good;
  const double to_good = 1 / jitter.bursts.bad;
  return {to_bad / (to_bad + to_good), jitter.bursts.slowdown, 1 - to_bad - to_good};
}

double normal_share(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

// Mean and variance of the largest of n independent factors exp(sigma z - sigma^2 / 2): integrals
// of x and x^2 with the density n F^(n-1) f (David and Nagaraja, Order Statistics, 2003, section
// 2.1). The trapezoidal rule converges exponentially, as the integrand falls off on both sides.
struct Moments {
  double mean = 0;
  double variance = 0;
};
template <class Value>
Moments moments_of_largest(double n, Value value) {
  constexpr double kStep = 1.0 / 16;
  constexpr double kEnd = 12;
  double weight = 0;
  double first = 0;
  double second = 0;
  for (double z = -kEnd; z <= kEnd; z += kStep) {
    const double below = normal_share(z);
    if (below <= 0) continue;
    const double density = std::exp((n - 1) * std::log(below) - z * z / 2);
    weight += density;
    first += density * value(z);
    second += density * value(z) * value(z);
  }
  const double mean = first / weight;
  return {mean, std::max(0.0, second / weight - mean * mean)};
}

Moments largest_log_normal(double sigma, double n) {
  return moments_of_largest(n, [&](double z) { return std::exp(sigma * z - sigma * sigma / 2); });
}
double largest_normal(double n) {
  return moments_of_largest(n, [](double z) { return z; }).mean;
}

// Of n groups the most bad draws of `trials`: sum over k of 1 - F(k)^n, F the binomial law (the
// same book, section 3.1).
double expected_most(double n, int trials, double share) {
  if (share <= 0) return 0;
  if (share >= 1) return trials;
  double most = 0;
  double below = 0;
  double log_chance = trials * std::log1p(-share);
  for (int k = 0; k < trials; ++k) {
    below = std::min(1.0, below + std::exp(log_chance));
    most += 1 - std::pow(below, n);
    log_chance += std::log((trials - k) / (k + 1.0)) + std::log(share) - std::log1p(-share);
  }
  return most;
}

}  // namespace

bool Jitter::active() const {
  const TwoFactors law = two_factors(*this);
  return sigma > 0 || (law.share > 0 && law.slowdown != 1);
}

void draw_factors(const Jitter& jitter, int unit, int draw, std::span<double> factors) {
  const auto index = static_cast<std::uint64_t>(draw) << 32 | static_cast<std::uint32_t>(unit);
  RandomStream random(jitter.seed, RandomPurpose::kernel_jitter, index);
  if (jitter.sigma > 0) {
    const double shift = jitter.sigma * jitter.sigma / 2;
    for (double& factor : factors) factor = std::exp(jitter.sigma * random.normal() - shift);
    return;
  }
  const TwoFactors law = two_factors(jitter);
  // Bad after bad, and bad after good; equal without memory.
  const double stays = law.share + law.memory * (1 - law.share);
  const double turns = law.share - law.memory * law.share;
  double chance = law.share;
  for (double& factor : factors) {
    const bool bad = random.uniform() < chance;
    factor = bad ? law.slowdown : 1;
    chance = bad ? stays : turns;
  }
}

ExpectedFactors expected_factors(const Jitter& jitter, double units, double groups, double draws) {
  if (jitter.sigma > 0) {
    const Moments group = largest_log_normal(jitter.sigma, units);
    if (draws <= 1) return {group.mean, largest_log_normal(jitter.sigma, units * groups).mean};
    // The mean of many draws is normal.
    return {group.mean, group.mean + std::sqrt(group.variance / draws) * largest_normal(groups)};
  }
  const TwoFactors law = two_factors(jitter);
  const double share = 1 - std::pow(1 - law.share, units);
  // Draws that correlate say as much as so many independent ones: the variance of the mean of an
  // autoregressive series.
  const double free = draws * (1 - law.memory) / (1 + law.memory);
  const int trials = std::max(1, static_cast<int>(std::lround(std::min(draws, free))));
  const double most = expected_most(groups, trials, share) / trials;
  return {1 + (law.slowdown - 1) * share, 1 + (law.slowdown - 1) * most};
}

}  // namespace windtunnel
