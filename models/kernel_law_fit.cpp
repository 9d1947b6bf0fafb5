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
// What a series may be off by all of whose timings others disturbed.
constexpr double kDisturbed = 0.3;
constexpr double kTrusted = 0.05;  // a series whose log is known to this counts half

// Standard deviation of the log of its median, beside what runs differ by.
double spread_of(const Sample& sample) {
  return std::hypot((sample.high_s - sample.low_s) / (4 * sample.median_s),
                    kDisturbed * sample.disturbed);
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

KernelLaw fit_line(const Points& points) {
  std::vector<std::vector<double>> columns(3);
  std::vector<double> y;
  std::vector<double> weights;
  for (const Sample* sample : points) {
    columns[0].push_back(1);
    columns[1].push_back(flops_of(work_of(*sample)));
    columns[2].push_back(bytes_of(work_of(*sample)));
    y.push_back(sample->median_s);
    const double spread = std::hypot(kLeastSpread, kDisturbed * sample->disturbed);
    weights.push_back(std::pow(kLeastSpread / (spread * sample->median_s), 2));
  }
  const std::vector<double> x = nonnegative_fit(columns, y, weights);
  KernelLaw law;
  law.fixed_s = x[0];
  law.flop_s = x[1];
  law.byte_s = x[2];
  for (const Sample* sample : points) {
    const KernelWork& work = work_of(*sample);
    if (work.n <= 0) continue;  // of one matrix: its line tells all
    const double off = std::log(sample->median_s / law_time(law, flops_of(work), bytes_of(work)));
    constexpr double kHalf = 0.5;  // less says nothing of a neighbour
    const double trust = 1 / (1 + std::pow(spread_of(*sample) / kTrusted, 2));
    if (trust > kHalf) law.shapes.push_back({work.m, work.n, work.k, trust * off});
  }
  return law;
}

double left_out_spread(const Points& points) {
  double sum = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    Points others = points;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const KernelWork& work = work_of(*points[i]);
    const KernelLaw law = fit_line(others);
    const double seconds =
        law_time(law, flops_of(work), bytes_of(work)) * shape_factor(law, work.m, work.n, work.k);
    const double error = std::log(seconds / points[i]->median_s);
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(points.size()));
}

// Series stray from each other by run_spread, whatever each one knows of itself.
KernelLaw fit_law(const std::string& key, const Points& points, double run_spread) {
  constexpr size_t kLeast = 4;
  if (points.size() < kLeast) {
    throw Error(
        fmt::format("{}: {} sizes were measured; a law needs {}", key, points.size(), kLeast));
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

// From works that were measured twice, neither time beside others.
double run_spread(std::span<const Sample> samples) {
  std::vector<double> changes;
  for (const Sample& again : samples) {
    if (again.role != SampleRole::again || again.disturbed > 0) continue;
    for (const Sample& first : samples) {
      if (first.role == SampleRole::again || first.disturbed > 0 || first.cache != again.cache ||
          to_text(first.work) != to_text(again.work)) {
        continue;
      }
      changes.push_back(std::abs(std::log(again.median_s / first.median_s)));
    }
  }
  if (changes.empty()) return kLeastSpread;
  // Of the difference of two that both vary. Of many, by the median: one that changed for a reason
  // of its own would widen the intervals of all.
  constexpr size_t kMany = 8;
  constexpr double kSpreadOfMedian = 1.4826;  // of a normal law
  double squares = 0;
  for (const double change : changes) squares += change * change;
  const double spread = changes.size() < kMany
                            ? std::sqrt(squares / static_cast<double>(changes.size()))
                            : kSpreadOfMedian * median(changes);
  return std::max(kLeastSpread, spread / std::numbers::sqrt2);
}

}  // namespace

bool mostly_disturbed(std::span<const Sample> samples) {
  const auto disturbed =
      std::ranges::count_if(samples, [](const Sample& sample) { return sample.disturbed > 0; });
  return 5 * static_cast<size_t>(disturbed) > 4 * samples.size();
}

KernelLaws fit_kernel_laws(std::span<const Sample> measured) {
  std::vector<Sample> samples(measured.begin(), measured.end());
  if (mostly_disturbed(measured)) {
    for (Sample& sample : samples) sample.disturbed = 0;
  }
  std::map<std::string, Points> by_key;
  for (const Sample& sample : samples) {
    if (sample.role == SampleRole::fit && sample.work.size() == 1 && sample.work[0].size() == 1) {
      by_key[law_key(work_of(sample), sample.cache)].push_back(&sample);
    }
  }
  KernelLaws fitted;
  fitted.run_spread = run_spread(samples);
  for (const auto& [key, points] : by_key) {
    fitted.laws.push_back(fit_law(key, points, fitted.run_spread));
  }
  return fitted;
}

}  // namespace windtunnel
