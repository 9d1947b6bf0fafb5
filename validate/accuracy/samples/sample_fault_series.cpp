// Rules about series of one kernel relative to each other, to their law, and over the run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"
#include "validate/accuracy/samples/sample_fault_rules.hpp"

namespace windtunnel {
namespace {

// Work on the other thread of a core, or on the same memory, makes a series take up to twice as
// long. The step from one cache to the next deviates from a line by as much again. Products, whose
// shapes differ, deviate by twice that. Deviations must also exceed the usual ones of the kernel's
// series: with tails like Student's with 4 degrees of freedom, eight deviations occur once in 700
// rows, and exceed a factor of four only for kernels that usually deviate by a sixth.
constexpr double kStrays = 4;
constexpr double kShapesStray = 8;
constexpr double kDeviations = 8;
// A work that takes longer than larger works needs fewer deviations, because no step between caches
// explains it. In runs without faults such rows reach five deviations.
constexpr double kDeviationsOutOfOrder = 6;

// A window has this many sizes, which two bad rows do not distort. Other work on the machine alone
// changes a window by less than kFalls. On loaded machines, falls in clean series reach five
// deviations of all rows, or three of their own, but not both.
constexpr std::size_t kWindow = 3;
constexpr double kFalls = 2;
constexpr double kFallDeviations = 6;  // of the run's rows
// In deviations of the series itself, and of the sizes of both windows about a line.
constexpr double kFallScatters = 2.5;

// The smallest work may be faster per byte than the next ones because it is in a closer cache: by
// up to 4 (first level to second) on the machines seen, and by twice that if others load the
// machine meanwhile. A larger factor means that an overhead was subtracted twice.
constexpr std::size_t kSmallest = 5;
constexpr double kNearerCache = 8;
// The five sizes lie within this ratio; a larger range covers more caches.
constexpr double kSmallRange = 64;
constexpr double kSurely = 4;  // in standard errors of the start

// The bound is for the median over all works that were measured both warm and cold. It lies beyond
// what works of a loaded machine vary: at three times the usual noise, one of 4000 clean runs
// reaches three errors.
constexpr double kColdFaster = 1.25;
constexpr double kSurelyFaster = 3;  // in standard errors of the median
constexpr std::size_t kLeastPairs = 3;

constexpr std::size_t kBin = 8;  // works measured at about the same time
constexpr std::size_t kLeastBins = 6;
constexpr double kClip = 3;               // deviations beyond this count as this
constexpr double kRareTrend = 3.29;       // standard deviations: once in a thousand runs
constexpr double kDriftMatters = 1.1;     // intervals include a smaller drift
constexpr double kRareRepeat = 0.005;     // share of rows that deviate as much
constexpr std::size_t kRepeatNeeds = 50;  // rows

constexpr double kLawMisses = 3;  // times the law's spread
constexpr std::size_t kLawNeeds = 6;
constexpr double kRareRuns = -3.7;  // standard deviations: once in ten thousand laws

// Returns the standard deviation of log times about their least-squares line in log size.
double scatter_about_line(std::span<const SizedSample> points) {
  const auto n = static_cast<double>(points.size());
  double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  for (const SizedSample& point : points) {
    const double log_size = std::log(point.size);
    x += log_size / n;
    y += point.log_s / n;
    xx += log_size * log_size / n;
    xy += log_size * point.log_s / n;
    yy += point.log_s * point.log_s / n;
  }
  const double along = xx > x * x ? (xy - x * y) * (xy - x * y) / (xx - x * x) : 0;
  return std::sqrt(std::max(0.0, yy - y * y - along) * n / (n - 2));
}

// Returns the largest fall of time from a window of sizes to the next, if all times of the second
// are below all of the first, and by more than noise: true falls follow a line, whereas load
// scatters times.
double largest_fall(const KernelSeries& series, double run_noise) {
  const std::span points(series.points);
  double largest = 0;
  for (std::size_t i = 0; i + 2 * kWindow <= points.size(); ++i) {
    std::vector<double> below;
    std::vector<double> above;
    for (std::size_t j = i; j < i + kWindow; ++j) {
      below.push_back(points[j].log_s);
      above.push_back(points[j + kWindow].log_s);
    }
    if (std::ranges::min(below) <= std::ranges::max(above)) continue;
    const double fall = median(below) - median(above);
    const double scatter =
        std::max(series.noise, scatter_about_line(points.subspan(i, 2 * kWindow)));
    if (fall < std::max(kFallDeviations * run_noise, kFallScatters * scatter)) continue;
    largest = std::max(largest, fall);
  }
  return largest;
}

// Returns the smallest works, one for each size.
std::vector<SizedSample> smallest(const KernelSeries& series) {
  std::vector<SizedSample> points;
  for (const SizedSample& point : series.points) {
    if (points.size() == kSmallest) break;
    if (points.empty() || point.size > points.back().size) points.push_back(point);
  }
  return points;
}

// Fits t = a + b size without bounds and with relative errors: a, and its standard error from the
// noise.
struct Start {
  double seconds = 0;
  double error_s = 0;
};
Start start_of(const std::vector<SizedSample>& points, double noise) {
  double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
  for (const SizedSample& point : points) {
    const double y = std::exp(point.log_s);
    const double weight = 1 / (y * y);
    w += weight;
    wx += weight * point.size;
    wxx += weight * point.size * point.size;
    wy += weight * y;
    wxy += weight * point.size * y;
  }
  const double determinant = w * wxx - wx * wx;
  return {(wxx * wy - wx * wxy) / determinant, noise * std::sqrt(wxx / determinant)};
}

std::optional<Blame> negative_start(const KernelSeries& series) {
  const std::vector<SizedSample> points = smallest(series);
  if (series.product || points.size() < kSmallest) return std::nullopt;
  std::vector<double> rates;
  for (std::size_t i = 1; i < points.size(); ++i) {
    rates.push_back(points[i].size / std::exp(points[i].log_s));
  }
  const SizedSample& first = points.front();
  const double faster = first.size / std::exp(first.log_s) / median(rates);
  if (points.back().size > kSmallRange * first.size) return std::nullopt;
  const Start start = start_of(points, std::max(series.noise, first.noise));
  if (faster < kNearerCache || start.seconds + kSurely * start.error_s > 0) {
    return std::nullopt;
  }
  return Blame{{first.sample},
               fmt::format("{}: extrapolated to size zero the time is {:.3g} us; the smallest work "
                           "is {:.3g} times as fast per byte as the next ones",
                           series.key, 1e6 * start.seconds, faster)};
}

// ---- Over the run.

struct TimedResidual {
  double at_s = 0;
  double residual = 0;
};

// Returns the residuals of each run. A resumed run counts its seconds from 0 again.
std::vector<std::vector<TimedResidual>> residuals_over_runs(const SampleEvidence& evidence) {
  constexpr double kSameBatch_s = 1e-3;
  std::map<const Sample*, double> residuals;
  for (const KernelSeries& series : evidence.series) {
    for (const SizedSample& point : series.points) {
      if (point.inner) residuals[point.sample] = point.residual;
    }
  }
  std::vector<std::vector<TimedResidual>> runs(1);
  double latest_s = 0;
  for (const Sample* sample : evidence.samples) {
    if (sample->started_s < latest_s - kSameBatch_s) runs.emplace_back();
    latest_s = sample->started_s;
    const auto found = residuals.find(sample);
    if (found != residuals.end()) runs.back().push_back({sample->started_s, found->second});
  }
  return runs;
}

// Returns means over rows measured at about the same time, because a disturbance slows all of them.
std::vector<TimedResidual> bins_of(std::vector<TimedResidual> run, double noise) {
  std::ranges::stable_sort(run, {}, &TimedResidual::at_s);
  std::vector<TimedResidual> bins;
  for (std::size_t first = 0; first + kBin <= run.size(); first += kBin) {
    TimedResidual& bin = bins.emplace_back();
    for (const TimedResidual& row : std::span(run).subspan(first, kBin)) {
      bin.at_s += row.at_s / kBin;
      bin.residual += std::clamp(row.residual, -kClip * noise, kClip * noise) / kBin;
    }
  }
  return bins;
}

// Blames a run if its bins correlate with time (Fisher's transformation) and their slope over the
// run matters (Theil and Sen).
std::optional<Blame> trend(const std::vector<TimedResidual>& bins) {
  if (bins.size() < kLeastBins) return std::nullopt;
  const auto n = static_cast<double>(bins.size());
  TimedResidual mean;
  for (const TimedResidual& bin : bins) {
    mean.at_s += bin.at_s / n;
    mean.residual += bin.residual / n;
  }
  double tt = 0, rr = 0, tr = 0;
  std::vector<double> slopes;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const double t = bins[i].at_s - mean.at_s;
    const double r = bins[i].residual - mean.residual;
    tt += t * t;
    rr += r * r;
    tr += t * r;
    for (std::size_t j = i + 1; j < bins.size(); ++j) {
      if (bins[j].at_s <= bins[i].at_s) continue;
      slopes.push_back((bins[j].residual - bins[i].residual) / (bins[j].at_s - bins[i].at_s));
    }
  }
  if (slopes.empty() || rr <= 0) return std::nullopt;
  const double deviations = std::atanh(tr / std::sqrt(tt * rr)) * std::sqrt(n - 3);
  const double all = median(slopes) * (bins.back().at_s - bins.front().at_s);
  if (std::abs(deviations) < kRareTrend || std::abs(all) < std::log(kDriftMatters)) {
    return std::nullopt;
  }
  return Blame{
      {},
      fmt::format("kernels take {:.3g} times as long at the end of the run as at its start",
                  std::exp(all))};
}

// Compares the run's first work with its repetition at the end. Both are blamed if they differ by
// more than nearly any two rows do.
std::optional<Blame> changed(const Sample& first, const Sample& again,
                             const std::vector<double>& strays) {
  const double change = std::log(alone(again, {}).median_s / alone(first, {}).median_s);
  const auto as_far = std::ranges::count_if(
      strays, [&](double stray) { return stray >= std::abs(change) / std::sqrt(2); });
  const double share = static_cast<double>(as_far) / static_cast<double>(strays.size());
  if (std::abs(change) < std::log(kDriftMatters) || share > kRareRepeat) return std::nullopt;
  return Blame{{&first, &again},
               fmt::format("{} takes {:.3g} times as long at the end as at the start",
                           to_text(first.work), std::exp(change))};
}

Blames changed_works(const SampleEvidence& evidence) {
  std::vector<double> strays;
  for (const KernelSeries& series : evidence.series) {
    for (const SizedSample& point : series.points) {
      if (point.inner) strays.push_back(std::abs(point.residual));
    }
  }
  Blames blames;
  if (strays.size() < kRepeatNeeds) return blames;
  for (const Sample* again : evidence.samples) {
    if (again->role != SampleRole::again) continue;
    for (const Sample* first : evidence.samples) {
      const bool same = first->role != SampleRole::again && first->cache == again->cache &&
                        to_text(first->work) == to_text(again->work);
      const std::optional<Blame> blame =
          same ? changed(*first, *again, strays) : std::optional<Blame>();
      if (blame) blames.push_back(*blame);
    }
  }
  return blames;
}

// ---- Laws.

// Returns by how many standard deviations the number of runs of one sign exceeds its expectation
// (Wald and Wolfowitz's test).
double runs_of_signs(const std::vector<double>& residuals) {
  double positive = 0;
  double runs = 1;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    positive += residuals[i] > 0 ? 1 : 0;
    if (i > 0 && (residuals[i] > 0) != (residuals[i - 1] > 0)) ++runs;
  }
  const auto n = static_cast<double>(residuals.size());
  const double pairs = 2 * positive * (n - positive);
  const double variance = pairs * (pairs - n) / (n * n * (n - 1));
  return variance > 0 ? (runs - 1 - pairs / n) / std::sqrt(variance) : 0;
}

std::optional<Blame> missed_by(const KernelSeries& series, const KernelLaw& law,
                               const KernelLaws& laws) {
  std::vector<double> residuals;
  std::vector<double> sizes;
  for (const SizedSample& point : series.points) {
    if (point.sample->role != SampleRole::fit) continue;
    residuals.push_back(
        point.log_s -
        std::log(predicted_time(point.sample->work, laws, point.sample->cache).seconds));
    sizes.push_back(std::abs(residuals.back()));
  }
  if (sizes.size() < kLawNeeds || median(sizes) < std::log(kDriftMatters)) return std::nullopt;
  const double claimed = std::hypot(law.spread, laws.run_spread);
  const double spread = normal_spread(sizes);
  if (spread < kLawMisses * claimed && runs_of_signs(residuals) > kRareRuns) return std::nullopt;
  return Blame{rows_of(series),
               fmt::format("{}: rows differ by {:.3g} % from the law, which claims {:.3g} %",
                           series.key, 100 * spread, 100 * claimed)};
}

// Returns the standard error of the values' median, if they deviate by at least `noise`.
double error_of_middle(const std::vector<double>& values, double noise) {
  const double middle = median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - middle));
  return error_of_median(std::max(noise, normal_spread(distances)), values.size());
}

// Whether an interpolated point takes longer than both next larger works, or less time than both
// next smaller ones. No step between caches causes that.
bool is_out_of_order(const KernelSeries& series, std::size_t place) {
  if (series.product) return false;
  const SizedSample& point = series.points[place];
  const bool slow = point.residual > 0;
  for (const std::size_t away : {1, 2}) {
    const SizedSample& other = series.points[slow ? place + away : place - away];
    if (slow ? point.log_s <= other.log_s : point.log_s >= other.log_s) return false;
  }
  return true;
}

}  // namespace

Blames non_monotone(const SampleEvidence& evidence) {
  Blames blames;
  for (const KernelSeries& series : evidence.series) {
    if (series.product) continue;
    const double fall = largest_fall(series, evidence.noise);
    if (fall < std::log(kFalls)) continue;
    blames.push_back(
        {rows_of(series),
         fmt::format(
             "{}: over several sizes, larger works are {:.3g} times as fast as smaller ones",
             series.key, std::exp(fall))});
  }
  return blames;
}

Blames negative_latency(const SampleEvidence& evidence) {
  Blames blames;
  for (const Sample* sample : evidence.samples) {
    if (sample->median_s > 0) continue;
    blames.push_back({{sample}, fmt::format("{}: {} s", to_text(sample->work), sample->median_s)});
  }
  for (const KernelSeries& series : evidence.series) {
    std::optional<Blame> blame = negative_start(series);
    if (blame) blames.push_back(std::move(*blame));
  }
  return blames;
}

Blames outliers(const SampleEvidence& evidence) {
  Blames blames;
  for (const KernelSeries& series : evidence.series) {
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const SizedSample& point = series.points[i];
      if (!point.inner) continue;
      const double noise = std::hypot(std::max(series.noise, evidence.noise), point.noise);
      const double strays = std::log(series.product ? kShapesStray : kStrays);
      const double deviations = is_out_of_order(series, i) ? kDeviationsOutOfOrder : kDeviations;
      if (std::abs(point.residual) < std::max(strays, deviations * noise)) continue;
      blames.push_back({{point.sample},
                        fmt::format("{} takes {:.3g} times as long as its other sizes suggest",
                                    to_text(point.sample->work), std::exp(point.residual))});
    }
  }
  return blames;
}

Blames cold_faster(const SampleEvidence& evidence) {
  std::map<std::string, const Sample*> warm;
  for (const Sample* sample : evidence.samples) {
    if (sample->cache == CacheState::warm) warm[to_text(sample->work)] = sample;
  }
  Blame blame;
  std::vector<double> logs;
  for (const Sample* cold : evidence.samples) {
    if (cold->cache != CacheState::cold) continue;
    const auto found = warm.find(to_text(cold->work));
    if (found == warm.end()) continue;
    logs.push_back(std::log(cold->median_s / found->second->median_s));
    blame.rows.push_back(cold);
  }
  if (logs.size() < kLeastPairs) return {};
  const double sure = kSurelyFaster * error_of_middle(logs, evidence.noise);
  if (median(logs) > -std::max(std::log(kColdFaster), sure)) return {};
  blame.what = fmt::format(
      "the median of {} works takes {:.3g} times as long with cold caches as with warm ones",
      logs.size(), std::exp(median(logs)));
  return {blame};
}

Blames drift(const SampleEvidence& evidence) {
  Blames blames;
  for (const std::vector<TimedResidual>& run : residuals_over_runs(evidence)) {
    const std::optional<Blame> blame = trend(bins_of(run, evidence.noise));
    if (blame) blames.push_back(*blame);
  }
  const Blames works = changed_works(evidence);
  blames.insert(blames.end(), works.begin(), works.end());
  return blames;
}

Blames bad_law(const SampleEvidence& evidence) {
  const KernelLaws* laws = evidence.known.laws;
  if (laws == nullptr) return {};
  Blames blames;
  for (const KernelSeries& series : evidence.series) {
    const auto law = std::ranges::find(laws->laws, series.key, &KernelLaw::key);
    if (law == laws->laws.end()) continue;
    std::optional<Blame> blame = missed_by(series, *law, *laws);
    if (blame) blames.push_back(std::move(*blame));
  }
  return blames;
}

}  // namespace windtunnel
