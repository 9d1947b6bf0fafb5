#include "models/workload/law_of_lengths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

double normal_share_below(double x) {
  return std::erfc(-x / std::numbers::sqrt2) / 2;
}

// The mean of min(X, longest) for the log-normal law: that of the lengths below `longest`, and
// `longest` for all others.
double mean_of(const LengthDistribution& law) {
  if (law.sigma == 0) return std::min(law.median, law.longest);
  const double cut = std::log(law.longest / law.median) / law.sigma;
  return law.median * std::exp(law.sigma * law.sigma / 2) * normal_share_below(cut - law.sigma) +
         law.longest * normal_share_below(-cut);
}

// Bisects for the argument between 0 and `high` at which the law has this mean.
LengthDistribution of_mean(double mean, double high, const auto& law_at) {
  double low = 0;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (mean_of(law_at(middle)) < mean ? low : high) = middle;
  }
  return law_at(high);
}

}  // namespace

LengthDistribution lengths_of_mean(double mean, double longest, double sigma) {
  if (!(mean >= 1 && mean <= longest)) {
    throw Error(fmt::format("a mean of {:g} tokens does not fit a maximum of {:g}", mean, longest));
  }
  // Along this path the mean rises: first the median grows up to `longest`, then sigma falls to 0.
  const auto at = [&](double way) {
    return LengthDistribution{.median = std::pow(longest, std::min(way, 1.0)),
                              .sigma = sigma * std::min(1.0, 2 - way),
                              .longest = longest};
  };
  if (mean >= mean_of(at(0))) return of_mean(mean, 2, at);
  // The median is at least 1. If the mean is too large even for that, sigma is reduced.
  return of_mean(mean, sigma, [&](double lower) {
    return LengthDistribution{.median = 1, .sigma = lower, .longest = longest};
  });
}

}  // namespace windtunnel
