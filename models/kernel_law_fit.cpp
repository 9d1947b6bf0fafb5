#include "models/kernel_law_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"
#include "models/nonnegative_fit.hpp"

namespace windtunnel {
namespace {

constexpr double kLeastSpread = 0.01;  // between two runs of a program
constexpr size_t kLeastSizes = 4;      // of a law

// Standard deviation of the log of its median, beside what runs differ by.
double spread_of(const Sample& sample) {
  return (sample.high_s - sample.low_s) / (4 * sample.median_s);
}

double bytes_of(const KernelWork& work) {
  return kernel_kind(work.kernel).bytes(work);
}

double flops_of(const KernelWork& work) {
  return kernel_kind(work.kernel).flops(work);
}

using Points = std::vector<const Sample*>;

const KernelWork& work_of(const Sample& sample) {
  return sample.work[0][0];
}

std::vector<MeasuredShape> shapes_about(const KernelLaw& line, const Points& points) {
  std::vector<MeasuredShape> shapes;
  if (work_of(*points[0]).n <= 0) return shapes;  // of one matrix: its line tells all
  std::vector<double> sizes;
  for (const Sample* sample : points) {
    const KernelWork& work = work_of(*sample);
    const double off = std::log(sample->median_s / law_time(line, work));
    shapes.push_back({work.m, work.n, work.k, off});
    sizes.push_back(std::abs(off));
  }
  const double about = std::max(kLeastSpread, kNormalOfMedian * median(sizes));
  for (size_t i = 0; i < shapes.size(); ++i) {
    shapes[i].weight = 1 / (1 + std::pow(spread_of(*points[i]) / about, 2));
  }
  return shapes;
}

KernelLaw fit_line(const Points& points) {
  std::vector<std::vector<double>> columns(3);
  std::vector<double> y;
  std::vector<double> weights;
  for (const Sample* sample : points) {
    columns[0].push_back(1);
    columns[1].push_back(flops_of(work_of(*sample)));
    columns[2].push_back(bytes_of(work_of(*sample)));
    y.push_back(sample->median_s);
    const double spread = std::max(kLeastSpread, spread_of(*sample));
    weights.push_back(std::pow(kLeastSpread / (spread * sample->median_s), 2));
  }
  const std::vector<double> x = nonnegative_fit(columns, y, weights);
  KernelLaw law;
  law.fixed_s = x[0];
  law.flop_s = x[1];
  law.byte_s = x[2];
  law.shapes = shapes_about(law, points);
  return law;
}

double left_out_spread(const Points& points) {
  double sum = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    Points others = points;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const KernelWork& work = work_of(*points[i]);
    const double error = std::log(law_time(fit_line(others), work) / points[i]->median_s);
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(points.size()));
}

// Series stray from each other by run_spread, whatever each one knows of itself.
KernelLaw fit_law(const std::string& key, const Points& points, double run_spread) {
  if (points.size() < kLeastSizes) {
    throw Error(
        fmt::format("{}: {} sizes were measured; a law needs {}", key, points.size(), kLeastSizes));
  }
  KernelLaw law;
  if (flops_of(work_of(*points[0])) > 0) {
    law = fit_line(points);
    law.spread = left_out_spread(points);
  } else {
    std::vector<TimedSize> sizes;
    for (const Sample* sample : points) {
      sizes.push_back(
          {bytes_of(work_of(*sample)), sample->median_s, std::max(run_spread, spread_of(*sample))});
    }
    law.curve = fit_time_curve(std::move(sizes));
    law.spread = law.curve.spread;
  }
  law.key = key;
  law.least = law.most = bytes_of(work_of(*points[0]));
  for (const Sample* sample : points) {
    law.least = std::min(law.least, bytes_of(work_of(*sample)));
    law.most = std::max(law.most, bytes_of(work_of(*sample)));
  }
  return law;
}

// Of works that were measured twice: log of the second over the first, both as they were alone.
std::vector<double> changes_of(std::span<const Sample> samples, bool quiet) {
  std::vector<double> changes;
  for (const Sample& again : samples) {
    if (again.role != SampleRole::again || (quiet && again.disturbed > 0)) continue;
    for (const Sample& first : samples) {
      if (first.role == SampleRole::again || (quiet && first.disturbed > 0) ||
          first.cache != again.cache || to_text(first.work) != to_text(again.work)) {
        continue;
      }
      changes.push_back(std::abs(std::log(alone(again, {}).median_s / alone(first, {}).median_s)));
    }
  }
  return changes;
}

// By those that had nobody beside them, where these are more than a few.
double run_spread(std::span<const Sample> samples) {
  constexpr size_t kFew = 4;
  std::vector<double> changes = changes_of(samples, true);
  if (changes.size() < kFew) changes = changes_of(samples, false);
  if (changes.empty()) return kLeastSpread;
  // Of the difference of two that both vary. Of many, by the median: one that changed for a reason
  // of its own would widen the intervals of all.
  constexpr size_t kMany = 8;
  double squares = 0;
  for (const double change : changes) squares += change * change;
  const double spread = changes.size() < kMany
                            ? std::sqrt(squares / static_cast<double>(changes.size()))
                            : kNormalOfMedian * median(changes);
  return std::max(kLeastSpread, spread / std::numbers::sqrt2);
}

bool is_fitted(const Sample& sample) {
  return sample.role == SampleRole::fit && sample.work.size() == 1 && sample.work[0].size() == 1;
}

std::map<std::string, Points> by_key_of(const std::vector<Sample>& samples) {
  std::map<std::string, Points> by_key;
  for (const Sample& sample : samples) {
    if (is_fitted(sample)) by_key[law_key(work_of(sample), sample.cache)].push_back(&sample);
  }
  return by_key;
}

// Of sizes that were measured beside others: how much longer than the law of those that were not,
// within its sizes, and how unsure that is.
struct SlowerSizes {
  std::vector<double> logs;
  double variance = 0;  // of all
};

void add_slower_sizes(const std::string& key, const Points& points, double run_spread,
                      SlowerSizes& slower) {
  constexpr double kMuch = 0.3;  // a smaller share tells little
  Points quiet;
  Points beside;
  for (const Sample* sample : points) {
    if (sample->disturbed == 0) quiet.push_back(sample);
    if (sample->disturbed > kMuch) beside.push_back(sample);
  }
  if (quiet.size() < kLeastSizes || beside.empty()) return;
  const KernelLaw law = fit_law(key, quiet, run_spread);
  for (const Sample* sample : beside) {
    const KernelWork& work = work_of(*sample);
    if (bytes_of(work) < law.least || bytes_of(work) > law.most) continue;
    const double log = std::log(sample->median_s / law_time(law, work)) / sample->disturbed;
    slower.logs.push_back(log);
    slower.variance += std::pow(std::hypot(kSizesDiffer, law.spread / sample->disturbed), 2);
  }
}

// What is known of all kernels, and what the sizes say, each by how sure it is.
Slowdown slowdown_of(const SlowerSizes& slower) {
  constexpr double kOfMedian = std::numbers::pi / 2;  // its variance over that of the mean
  const double kHalfOfCore = std::numbers::ln2;       // no fair core gives a thread less
  Slowdown slowdown;
  if (slower.logs.empty()) return slowdown;
  const auto count = static_cast<double>(slower.logs.size());
  const double known = 1 / (slowdown.spread * slowdown.spread);
  const double told = count * count / (kOfMedian * slower.variance);
  slowdown.log = std::clamp((known * slowdown.log + told * median(slower.logs)) / (known + told),
                            0.0, kHalfOfCore);
  slowdown.spread = 1 / std::sqrt(known + told);
  return slowdown;
}

// By kernel, whatever its law: threads share the units that it uses.
std::map<std::string, Slowdown> slowdowns(const std::vector<Sample>& samples, double run_spread) {
  std::map<std::string, SlowerSizes> slower;
  for (const auto& [key, points] : by_key_of(samples)) {
    add_slower_sizes(key, points, run_spread, slower[work_of(*points[0]).kernel]);
  }
  std::map<std::string, Slowdown> slowdowns;
  for (const auto& [kernel, sizes] : slower) slowdowns[kernel] = slowdown_of(sizes);
  return slowdowns;
}

}  // namespace

KernelLaws fit_kernel_laws(std::span<const Sample> measured) {
  std::vector<Sample> samples(measured.begin(), measured.end());
  KernelLaws fitted;
  fitted.run_spread = run_spread(samples);
  const std::map<std::string, Slowdown> slower = slowdowns(samples, fitted.run_spread);
  std::map<std::string, double> shares;  // sums, by law
  for (Sample& sample : samples) {
    if (!is_fitted(sample)) continue;
    shares[law_key(work_of(sample), sample.cache)] += sample.disturbed;
    sample = alone(sample, slower.at(work_of(sample).kernel));
  }
  for (const auto& [key, points] : by_key_of(samples)) {
    KernelLaw law = fit_law(key, points, fitted.run_spread);
    law.slowdown = slower.at(work_of(*points[0]).kernel);
    law.disturbed = shares.at(key) / static_cast<double>(points.size());
    // Of the law, not of the sizes about it.
    law.spread = std::max(std::min(law.spread, fitted.run_spread),
                          std::sqrt(std::max(0.0, law.spread * law.spread -
                                                      std::pow(kSizesDiffer * law.disturbed, 2))));
    fitted.laws.push_back(std::move(law));
  }
  return fitted;
}

}  // namespace windtunnel
