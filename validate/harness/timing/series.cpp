#include "validate/harness/timing/series.hpp"

#include <algorithm>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"
#include "models/base/random.hpp"

namespace windtunnel {
namespace {

constexpr int kResamples = 500;

}  // namespace

SeriesSummary summarise(std::vector<double> seconds, std::uint64_t seed) {
  CHECK(!seconds.empty(), "a series without timings");
  std::ranges::sort(seconds);
  SeriesSummary summary;
  summary.median_s = quantile_of_sorted(seconds, 0.5);
  summary.p05_s = quantile_of_sorted(seconds, 0.05);
  summary.p95_s = quantile_of_sorted(seconds, 0.95);
  RandomStream random(seed, RandomPurpose::resample, 0);
  std::vector<double> medians;
  std::vector<double> resample(seconds.size());
  for (int i = 0; i < kResamples; ++i) {
    for (double& value : resample) value = seconds[random.below(seconds.size())];
    medians.push_back(median(resample));
  }
  std::ranges::sort(medians);
  summary.low_s = quantile_of_sorted(medians, 0.025);
  summary.high_s = quantile_of_sorted(medians, 0.975);
  return summary;
}

}  // namespace windtunnel
