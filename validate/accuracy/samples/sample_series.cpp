#include <algorithm>
#include <cmath>
#include <map>

#include "models/base/quantile.hpp"
#include "models/calibration/kernel_law.hpp"
#include "validate/accuracy/samples/sample_fault_rules.hpp"

namespace windtunnel {
namespace {

constexpr double kInterval95 = 1.96;  // half-width of a 95 % interval of a normal law
constexpr double kLeastNoise = 0.02;  // between two runs of a program on a quiet machine
constexpr std::size_t kBeside = 3;    // neighbours on either side
// Neighbours needed on each side for a point to count as interpolated.
constexpr std::size_t kTwoSided = 2;
// Ratio of sizes: without a neighbour closer than this, nothing is predicted for a point.
constexpr double kFar = 10;

using Points = std::vector<SizedSample>;

SizedSample sized(const Sample& sample, bool product) {
  const KernelWork& work = sample.work[0][0];
  const KernelKind& kind = kernel_kind(work.kernel);
  SizedSample point;
  point.sample = &sample;
  point.bytes = kind.bytes(work);
  point.size = product ? kind.flops(work) : point.bytes;
  const Sample whole = alone(sample, {});
  point.log_s = std::log(whole.median_s);
  point.noise = (whole.high_s - whole.low_s) / (2 * kInterval95 * whole.median_s);
  return point;
}

// Fits a line to `near` in log size and log time by repeated medians, and returns the log time at
// `size`.
double repeated_median(const std::vector<const SizedSample*>& near, double size) {
  std::vector<double> slopes;
  for (const SizedSample* a : near) {
    std::vector<double> from_here;
    for (const SizedSample* b : near) {
      if (a->size == b->size) continue;
      from_here.push_back((b->log_s - a->log_s) / std::log(b->size / a->size));
    }
    if (!from_here.empty()) slopes.push_back(median(from_here));
  }
  const double slope = slopes.empty() ? 0 : median(slopes);
  std::vector<double> levels;
  levels.reserve(near.size());
  for (const SizedSample* a : near) levels.push_back(a->log_s + slope * std::log(size / a->size));
  return median(levels);
}

void judge_by_neighbours(Points& points) {
  const std::size_t count = points.size();
  std::vector<double> residuals(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = i - std::min(i, kBeside);
    const std::size_t last = std::min(count - 1, i + kBeside);
    std::vector<const SizedSample*> near;
    for (std::size_t j = first; j <= last; ++j) {
      if (j != i) near.push_back(&points[j]);
    }
    const bool beside = std::ranges::any_of(near, [&](const SizedSample* other) {
      return std::abs(std::log(other->size / points[i].size)) < std::log(kFar);
    });
    if (near.size() < kBeside || !beside) continue;
    residuals[i] = points[i].log_s - repeated_median(near, points[i].size);
    points[i].inner = i - first >= kTwoSided && last - i >= kTwoSided;
  }
  for (std::size_t i = 0; i < count; ++i) points[i].residual = residuals[i];
}

double spread_of(const std::vector<double>& sizes) {
  return sizes.empty() ? kLeastNoise : std::max(kLeastNoise, normal_spread(sizes));
}

void add_sizes(const KernelSeries& series, std::vector<double>& sizes) {
  for (const SizedSample& point : series.points) {
    if (point.inner) sizes.push_back(std::abs(point.residual));
  }
}

bool belongs(const Sample& sample) {
  return sample.role != SampleRole::again && sample.work.size() == 1 &&
         sample.work[0].size() == 1 && sample.median_s > 0;
}

}  // namespace

std::vector<const Sample*> rows_of(const KernelSeries& series) {
  std::vector<const Sample*> rows;
  for (const SizedSample& point : series.points) rows.push_back(point.sample);
  return rows;
}

std::vector<KernelSeries> kernel_series(std::span<const Sample* const> samples) {
  std::map<std::string, KernelSeries> by_key;
  for (const Sample* sample : samples) {
    if (!belongs(*sample)) continue;
    const KernelWork& work = sample->work[0][0];
    const std::string key = law_key(work, sample->cache);
    KernelSeries& series = by_key[key];
    series.key = key;
    series.product = kernel_kind(work.kernel).flops(work) > 0;
    series.points.push_back(sized(*sample, series.product));
  }
  std::vector<KernelSeries> all;
  for (auto& [key, series] : by_key) {
    std::ranges::stable_sort(series.points, {}, &SizedSample::size);
    judge_by_neighbours(series.points);
    std::vector<double> sizes;
    add_sizes(series, sizes);
    series.noise = spread_of(sizes);
    all.push_back(std::move(series));
  }
  return all;
}

double noise_of(std::span<const KernelSeries> series) {
  std::vector<double> sizes;
  for (const KernelSeries& one : series) add_sizes(one, sizes);
  return spread_of(sizes);
}

}  // namespace windtunnel
