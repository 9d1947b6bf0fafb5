#include "models/calibration/kernel_law_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "models/base/error.hpp"
#include "models/base/fit/nonnegative_fit.hpp"
#include "models/base/quantile.hpp"

namespace windtunnel {
namespace {

constexpr double kLeastSpreadOfRuns = 0.01;  // between two runs of a program

// Standard deviation of the log of a sample's median, apart from differences between runs.
double spread_of(const Sample& sample) {
  return (sample.high_s - sample.low_s) / (4 * sample.median_s);
}

double bytes_of(const KernelWork& work) {
  return kernel_kind(work.kernel).bytes(work);
}

double flops_of(const KernelWork& work) {
  return kernel_kind(work.kernel).flops(work);
}

using Samples = std::vector<const Sample*>;

const KernelWork& work_of(const Sample& sample) {
  return sample.work[0][0];
}

std::vector<MeasuredShape> shapes_about(const KernelLaw& line, const Samples& points) {
  std::vector<MeasuredShape> shapes;
  if (work_of(*points[0]).n <= 0) return shapes;  // only products have shapes
  std::vector<double> sizes;
  for (const Sample* sample : points) {
    const KernelWork& work = work_of(*sample);
    const double off = std::log(sample->median_s / law_time(line, work));
    shapes.push_back({work.m, work.n, work.k, off});
    sizes.push_back(std::abs(off));
  }
  const double about = std::max(kLeastSpreadOfRuns, normal_spread(sizes));
  for (size_t i = 0; i < shapes.size(); ++i) {
    shapes[i].weight = 1 / (1 + std::pow(spread_of(*points[i]) / about, 2));
  }
  return shapes;
}

KernelLaw fit_line(const Samples& points) {
  std::vector<std::vector<double>> columns(3);
  std::vector<double> y;
  std::vector<double> weights;
  for (const Sample* sample : points) {
    columns[0].push_back(1);
    columns[1].push_back(flops_of(work_of(*sample)));
    columns[2].push_back(bytes_of(work_of(*sample)));
    y.push_back(sample->median_s);
    const double spread = std::max(kLeastSpreadOfRuns, spread_of(*sample));
    weights.push_back(std::pow(kLeastSpreadOfRuns / (spread * sample->median_s), 2));
  }
  const std::vector<double> x = nonnegative_fit(columns, y, weights);
  KernelLaw law;
  law.fixed_s = x[0];
  law.flop_s = x[1];
  law.byte_s = x[2];
  law.shapes = shapes_about(law, points);
  return law;
}

double left_out_kernel_spread(const Samples& points) {
  double sum = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    Samples others = points;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const KernelWork& work = work_of(*points[i]);
    const double error = std::log(law_time(fit_line(others), work) / points[i]->median_s);
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(points.size()));
}

// Series differ from each other by run_spread, however well each one is known.
KernelLaw fit_law(const std::string& key, const Samples& points, double run_spread) {
  if (points.size() < kLeastSizes) {
    throw Error(
        fmt::format("{}: {} sizes were measured; a law needs {}", key, points.size(), kLeastSizes));
  }
  KernelLaw law;
  if (flops_of(work_of(*points[0])) > 0) {
    law = fit_line(points);
    law.spread = left_out_kernel_spread(points);
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

// A work that was measured twice.
struct Repeat {
  const Sample* first = nullptr;
  const Sample* again = nullptr;

  double log_change() const { return std::log(again->median_s / first->median_s); }
  double further_disturbed() const { return again->disturbed - first->disturbed; }
};

std::vector<Repeat> repeats_of(const std::vector<Sample>& samples) {
  std::vector<Repeat> repeats;
  for (const Sample& again : samples) {
    if (again.role != SampleRole::again) continue;
    for (const Sample& first : samples) {
      const bool same = first.role != SampleRole::again && first.cache == again.cache &&
                        to_text(first.work) == to_text(again.work);
      if (same) repeats.push_back({&first, &again});
    }
  }
  return repeats;
}

// Uses the undisturbed repeats if there are more than a few; otherwise all repeats, corrected for
// disturbance.
double run_spread(const std::vector<Repeat>& repeats, const Slowdown& slowdown) {
  constexpr size_t kFew = 4;
  std::vector<double> quiet;
  std::vector<double> all;
  for (const Repeat& repeat : repeats) {
    all.push_back(std::abs(repeat.log_change() - slowdown.log * repeat.further_disturbed()));
    if (repeat.first->disturbed == 0 && repeat.again->disturbed == 0) quiet.push_back(all.back());
  }
  const std::vector<double>& changes = quiet.size() < kFew ? all : quiet;
  if (changes.empty()) return kLeastSpreadOfRuns;
  // Standard deviation of the difference of two runs. With many repeats it follows from the median,
  // because a single one that changed for a special reason would widen all intervals.
  constexpr size_t kMany = 8;
  double squares = 0;
  for (const double change : changes) squares += change * change;
  const double spread = changes.size() < kMany
                            ? std::sqrt(squares / static_cast<double>(changes.size()))
                            : normal_spread(changes);
  return std::max(kLeastSpreadOfRuns, spread / std::numbers::sqrt2);
}

bool is_fitted(const Sample& sample) {
  return sample.role == SampleRole::fit && sample.work.size() == 1 && sample.work[0].size() == 1;
}

std::map<std::string, Samples> by_key_of(const std::vector<Sample>& samples) {
  std::map<std::string, Samples> by_key;
  for (const Sample& sample : samples) {
    if (is_fitted(sample)) by_key[law_key(work_of(sample), sample.cache)].push_back(&sample);
  }
  return by_key;
}

// Logarithms of the factors by which other processes on the cores slow a kernel down; there is one
// for each measurement.
struct Slowdowns {
  std::vector<double> logs;
  double variance = 0;  // sum of their squared errors

  void add(double log, double error) {
    logs.push_back(log);
    variance += error * error;
  }
};

constexpr double kMuch = 0.3;  // a smaller share tells little

// Adds by how much disturbed works took longer than the law of undisturbed works, within the law's
// range of sizes.
void add_sizes(const std::string& key, const Samples& points, Slowdowns& slowdowns) {
  Samples quiet;
  Samples beside;
  for (const Sample* sample : points) {
    if (sample->disturbed == 0) quiet.push_back(sample);
    if (sample->disturbed > kMuch) beside.push_back(sample);
  }
  if (quiet.size() < kLeastSizes || beside.empty()) return;
  const KernelLaw law = fit_law(key, quiet, kLeastSpreadOfRuns);
  for (const Sample* sample : beside) {
    const KernelWork& work = work_of(*sample);
    if (bytes_of(work) < law.least || bytes_of(work) > law.most) continue;
    slowdowns.add(std::log(sample->median_s / law_time(law, work)) / sample->disturbed,
                  std::hypot(kSizesDiffer, law.spread / sample->disturbed));
  }
}

// Returns the mean of `known` and the logs, weighted by their certainty.
Slowdown slowdown_of(const Slowdowns& slowdowns, const Slowdown& known) {
  const double kHalfOfCore = std::numbers::ln2;  // a fair core gives a thread at least half
  if (slowdowns.logs.empty()) return known;
  const auto count = static_cast<double>(slowdowns.logs.size());
  const double before = 1 / (known.spread * known.spread);
  const double error =
      error_of_median(std::sqrt(slowdowns.variance / count), slowdowns.logs.size());
  const double told = 1 / (error * error);
  const double log = (before * known.log + told * median(slowdowns.logs)) / (before + told);
  return {std::clamp(log, 0.0, kHalfOfCore), 1 / std::sqrt(before + told)};
}

struct RunSlowdowns {
  Slowdown middle;                            // of all kernels
  std::map<std::string, Slowdown> of_kernel;  // by kernel, not by law
};

// The slowdown differs from run to run: its logarithm was 0.26 in four calibrations and 0.54 in a
// fifth (measured). Kernels differ around the value of their run.
RunSlowdowns run_slowdowns(const std::vector<Sample>& samples, const std::vector<Repeat>& repeats) {
  constexpr double kRunsDiffer = 0.15;
  std::map<std::string, Slowdowns> by_kernel;
  for (const auto& [key, points] : by_key_of(samples)) {
    add_sizes(key, points, by_kernel[work_of(*points[0]).kernel]);
  }
  Slowdowns all;
  for (const auto& [kernel, own] : by_kernel) {
    all.logs.insert(all.logs.end(), own.logs.begin(), own.logs.end());
    all.variance += own.variance;
  }
  for (const Repeat& repeat : repeats) {
    const double further = repeat.further_disturbed();
    if (std::abs(further) > kMuch) all.add(repeat.log_change() / further, kSizesDiffer / further);
  }
  RunSlowdowns run;
  run.middle = slowdown_of(all, {Slowdown{}.log, kRunsDiffer});
  const Slowdown known = {run.middle.log, std::hypot(run.middle.spread, Slowdown{}.spread)};
  for (const auto& [kernel, own] : by_kernel) run.of_kernel[kernel] = slowdown_of(own, known);
  return run;
}

}  // namespace

KernelLaws fit_kernel_laws(std::span<const Sample> measured) {
  std::vector<Sample> samples(measured.begin(), measured.end());
  KernelLaws fitted;
  const std::vector<Repeat> repeats = repeats_of(samples);
  const RunSlowdowns slower = run_slowdowns(samples, repeats);
  fitted.run_spread = run_spread(repeats, slower.middle);
  std::map<std::string, double> shares;  // sums, by law
  for (Sample& sample : samples) {
    if (!is_fitted(sample)) continue;
    shares[law_key(work_of(sample), sample.cache)] += sample.disturbed;
    sample = alone(sample, slower.of_kernel.at(work_of(sample).kernel));
  }
  for (const auto& [key, points] : by_key_of(samples)) {
    KernelLaw law = fit_law(key, points, fitted.run_spread);
    law.slowdown = slower.of_kernel.at(work_of(*points[0]).kernel);
    law.disturbed = shares.at(key) / static_cast<double>(points.size());
    // The spread of the law alone, without the differences between sizes that disturbance causes.
    law.spread = std::max(std::min(law.spread, fitted.run_spread),
                          std::sqrt(std::max(0.0, law.spread * law.spread -
                                                      std::pow(kSizesDiffer * law.disturbed, 2))));
    fitted.laws.push_back(std::move(law));
  }
  return fitted;
}

}  // namespace windtunnel
