#include "models/machine/jitter.hpp"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "models/machine/slowest_factors.hpp"

namespace windtunnel {
namespace {

// Laws with two states: factor 1, and `slowdown` with probability `share`; consecutive draws have
// correlation `memory`.
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

// The expected largest number of bad draws among n groups of `trials`: sum over k of 1 - F(k)^n, F
// the binomial law (David and Nagaraja, section 3.1).
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

// The quantile of one draw, for laws without states.
Quantile quantile_of(const Jitter& jitter) {
  if (jitter.exponential > 0) {
    return [mean = jitter.exponential](double /*below*/, double above) {
      return 1 - mean * std::log(above);
    };
  }
  if (jitter.pareto > 0) {
    return [exponent = jitter.pareto](double /*below*/, double above) {
      return std::pow(above, -1 / exponent);
    };
  }
  return [sigma = jitter.sigma](double below, double above) {
    return std::exp(sigma * normal_quantile(below, above) - sigma * sigma / 2);
  };
}

// The normal variable that RandomStream::normal() makes of this uniform number.
double normal_of(double uniform) {
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * uniform);
}

RandomStream stream_of(const Jitter& jitter, int unit, int draw) {
  return {jitter.seed, RandomPurpose::kernel_jitter,
          static_cast<std::uint64_t>(draw) << 32 | static_cast<std::uint32_t>(unit)};
}

// The factor of a law without states, from a normal variable.
double factor_of(const Jitter& jitter, double z) {
  if (jitter.sigma > 0) return std::exp(jitter.sigma * z - jitter.sigma * jitter.sigma / 2);
  const double log_above = std::log(normal_share(-z));
  return jitter.exponential > 0 ? 1 - jitter.exponential * log_above
                                : std::exp(-log_above / jitter.pareto);
}

bool has_states(const Jitter& jitter) {
  return jitter.sigma == 0 && jitter.exponential == 0 && jitter.pareto == 0;
}

// Variance of the mean of `draws` factors of an autoregressive series, relative to the variance of
// one: (1 + r) / (1 - r) / draws.
double averaged(double draws, double memory) {
  return (1 + memory) / (1 - memory) / draws;
}

// The number of independent draws whose mean varies as much as that of these correlated ones.
double free_draws(double draws, double memory) {
  return std::min(draws, 1 / averaged(draws, memory));
}

// Moments of the k-th smallest of n factors that have two states, the bad one with a tail. They are
// sums over the possible numbers of bad ones.
Moments order_of_states(const TwoFactors& law, double tail, double n, double k) {
  double mean = 0;
  double square = 0;
  for (double bad = 0; bad <= n; ++bad) {
    const double chance = binomial_chance(n, bad, law.share);
    const double place = k - (n - bad);  // among the bad ones
    if (chance < 1e-18) continue;
    const auto power = [&](double exponent) {
      if (place < 1) return 1.0;
      return tail > 0 ? expected_pareto_order(bad, place, exponent) : 1.0;
    };
    const double factor = place < 1 ? 1 : law.slowdown;
    mean += chance * factor * power(tail);
    square += chance * factor * factor * power(tail / 2);
  }
  return {mean, std::max(0.0, square - mean * mean)};
}

}  // namespace

bool Jitter::active() const {
  const TwoFactors law = two_factors(*this);
  return sigma > 0 || exponential > 0 || pareto > 0 ||
         (law.share > 0 && (law.slowdown != 1 || bursts.tail > 0));
}

FactorStream::FactorStream(const Jitter& jitter, int unit, int draw)
    : jitter_(jitter), random_(stream_of(jitter, unit, draw)) {
  const TwoFactors law = two_factors(jitter);
  chance_ = law.share;
  stays_ = law.share + law.memory * (1 - law.share);
  turns_ = law.share - law.memory * law.share;
  slowdown_ = law.slowdown;
}

double FactorStream::transformed(double z) const {
  return factor_of(jitter_, z);
}

void FactorStream::next(std::span<double> factors) {
  if (jitter_.per != JitterPer::run) {
    draw(factors);
    return;
  }
  if (held_ == 0) draw(std::span(&held_, 1));
  std::ranges::fill(factors, held_);
}

void FactorStream::draw(std::span<double> factors) {
  if (!has_states(jitter_)) {
    const double memory = jitter_.memory;
    const double rest = std::sqrt(1 - memory * memory);
    for (double& factor : factors) {
      z_ = begun_ && memory != 0 ? memory * z_ + rest * random_.normal() : random_.normal();
      begun_ = true;
      factor = transformed(z_);
    }
    return;
  }
  for (double& factor : factors) {
    const bool bad = random_.uniform() < chance_;
    factor = bad ? slowdown_ : 1;
    if (bad && jitter_.bursts.tail > 0) {
      factor *= std::pow(random_.uniform(), -1 / jitter_.bursts.tail);
    }
    chance_ = bad ? stays_ : turns_;
  }
}

void draw_factors(const Jitter& jitter, int unit, int draw, std::span<double> factors) {
  FactorStream(jitter, unit, draw).next(factors);
}

void slowest_factors(const Jitter& jitter, std::span<const int> units, int draw,
                     std::span<double> factors) {
  std::ranges::fill(factors, 0);
  if (!has_states(jitter) && jitter.memory == 0 && jitter.per != JitterPer::run) {
    for (const int unit : units) {
      RandomStream random = stream_of(jitter, unit, draw);
      for (double& largest : factors) largest = std::max(largest, random.uniform());
    }
    for (double& factor : factors) factor = factor_of(jitter, normal_of(factor));
    return;
  }
  std::vector<double> own(factors.size());
  for (const int unit : units) {
    draw_factors(jitter, unit, draw, own);
    for (std::size_t i = 0; i < own.size(); ++i) factors[i] = std::max(factors[i], own[i]);
  }
}

Moments factor_moments(const Jitter& jitter) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const auto pareto = [](double exponent) {  // mean and mean square
    return Moments{exponent > 1 ? exponent / (exponent - 1) : kNone,
                   exponent > 2 ? exponent / (exponent - 2) : kNone};
  };
  if (jitter.sigma > 0) return {1, std::expm1(jitter.sigma * jitter.sigma)};
  if (jitter.exponential > 0) return {1 + jitter.exponential, std::pow(jitter.exponential, 2)};
  if (jitter.pareto > 0) {
    const auto [mean, square] = pareto(jitter.pareto);
    return {mean, square - mean * mean};
  }
  const TwoFactors law = two_factors(jitter);
  const Moments tail = jitter.bursts.tail > 0 ? pareto(jitter.bursts.tail) : Moments{1, 1};
  const double mean = 1 - law.share + law.share * law.slowdown * tail.mean;
  const double square = 1 - law.share + law.share * law.slowdown * law.slowdown * tail.variance;
  return {mean, square - mean * mean};
}

double factor_correlation(const Jitter& jitter, int distance) {
  if (jitter.per == JitterPer::run) return 1;
  if (!has_states(jitter)) return std::pow(jitter.memory, distance);
  return std::pow(two_factors(jitter).memory, distance);
}

double expected_factor(const Jitter& jitter, double n, double k) {
  if (jitter.exponential > 0) return 1 + jitter.exponential * expected_exponential_order(n, k);
  if (jitter.pareto > 0) return expected_pareto_order(n, k, jitter.pareto);
  if (jitter.sigma > 0) return moments_of_order(n, k, quantile_of(jitter)).mean;
  return order_of_states(two_factors(jitter), jitter.bursts.tail, n, k).mean;
}

Moments slowest_moments(const Jitter& jitter, double units) {
  if (!has_states(jitter)) {
    Moments slowest = moments_of_order(units, units, quantile_of(jitter));
    slowest.mean = expected_factor(jitter, units, units);
    return slowest;
  }
  return order_of_states(two_factors(jitter), jitter.bursts.tail, std::round(units),
                         std::round(units));
}

ExpectedFactors expected_factors(const Jitter& jitter, double units, double groups, double draws) {
  if (jitter.per == JitterPer::run) draws = 1;
  if (!has_states(jitter) || jitter.bursts.tail > 0) {
    const Moments group = slowest_moments(jitter, units);
    if (draws <= 1) return {group.mean, slowest_moments(jitter, units * groups).mean};
    if (!std::isfinite(factor_moments(jitter).variance)) {
      // The single largest draw dominates (the principle of a single big jump: Foss, Korshunov and
      // Zachary, An Introduction to Heavy-Tailed and Subexponential Distributions, 2013, section
      // 3.1).
      const double largest = slowest_moments(jitter, units * groups * draws).mean;
      return {group.mean, group.mean + std::max(0.0, largest - group.mean) / draws};
    }
    // The mean of many draws is normal.
    const double deviation =
        std::sqrt(group.variance / free_draws(draws, factor_correlation(jitter, 1)));
    return {group.mean, group.mean + deviation * expected_normal_order(groups, groups)};
  }
  const TwoFactors law = two_factors(jitter);
  const double share = 1 - std::pow(1 - law.share, units);
  // This many independent draws have a mean of the same variance as the correlated ones.
  const double free = draws * (1 - law.memory) / (1 + law.memory);
  const int trials = std::max(1, static_cast<int>(std::lround(std::min(draws, free))));
  const double most = expected_most(groups, trials, share) / trials;
  return {1 + (law.slowdown - 1) * share, 1 + (law.slowdown - 1) * most};
}

}  // namespace windtunnel
