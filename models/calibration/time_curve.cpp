#include "models/calibration/time_curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/base/error.hpp"
#include "models/base/fit/nonnegative_fit.hpp"
#include "models/base/quantile.hpp"

namespace windtunnel {
namespace {

constexpr size_t kMostPieces = 4;
constexpr double kLeastSpreadOfTiming = 2e-3;  // no timing is known better than this
constexpr double kFreedom = 4;
constexpr int kTurns = 8;

using Points = std::vector<TimedSize>;  // `spread` relative to the median of all; or 1

TimeCurve curve_over(const std::vector<double>& ends, const Points& points) {
  std::vector<std::vector<double>> columns(ends.size(), std::vector<double>(points.size()));
  std::vector<double> y(points.size());
  std::vector<double> weights(points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    columns[0][i] = 1;
    for (size_t piece = 1; piece < ends.size(); ++piece) {
      const double end =
          piece + 1 == ends.size() ? std::numeric_limits<double>::infinity() : ends[piece];
      columns[piece][i] = std::clamp(points[i].size, ends[piece - 1], end) - ends[piece - 1];
    }
    y[i] = points[i].seconds;
    weights[i] = 1 / std::pow(y[i] * points[i].spread, 2);
  }
  std::vector<double> x = nonnegative_fit(columns, y, weights);
  TimeCurve curve{.sizes = ends, .seconds = {}};
  for (int turn = 0; turn < kTurns; ++turn) {
    curve.seconds.assign(1, x[0]);
    for (size_t piece = 1; piece < ends.size(); ++piece) {
      curve.seconds.push_back(curve.seconds.back() + x[piece] * (ends[piece] - ends[piece - 1]));
    }
    std::vector<double> errors;
    for (const TimedSize& point : points) {
      errors.push_back(std::abs(curve.at(point.size) / point.seconds - 1) / point.spread);
    }
    const double scale = std::max(kLeastSpreadOfTiming, normal_spread(errors));
    for (size_t i = 0; i < points.size(); ++i) {
      const double r = errors[i] / scale;
      weights[i] = (kFreedom + 1) / (kFreedom + r * r) / std::pow(y[i] * points[i].spread, 2);
    }
    x = nonnegative_fit(columns, y, weights);
  }
  return curve;
}

// Adds a penalty for each parameter to minus twice the log-likelihood (Student-t).
double criterion(const TimeCurve& curve, const Points& points, double scale) {
  double sum = 0;
  for (const TimedSize& point : points) {
    const double r =
        std::log(std::max(1e-300, curve.at(point.size)) / point.seconds) / (scale * point.spread);
    sum += (kFreedom + 1) * std::log1p(r * r / kFreedom);
  }
  // Each piece has a slope and an end.
  const double parameters = 2.0 * static_cast<double>(curve.sizes.size()) - 1;
  return sum + parameters * std::log(static_cast<double>(points.size()));
}

double noise_of(const Points& points) {
  std::vector<double> spreads;
  for (const TimedSize& point : points) spreads.push_back(point.spread);
  return std::max(0.01, median(spreads));
}

// Adds the end of a piece where it improves the fit most; returns the same curve if none does.
TimeCurve refined(const TimeCurve& curve, const Points& points, double noise) {
  TimeCurve best = curve;
  for (size_t i = 1; i + 1 < points.size(); ++i) {
    std::vector<double> ends = curve.sizes;
    const double end = points[i].size;
    if (std::ranges::find(ends, end) != ends.end()) continue;
    ends.insert(std::ranges::lower_bound(ends, end), end);
    TimeCurve next = curve_over(ends, points);
    if (criterion(next, points, noise) < criterion(best, points, noise)) best = std::move(next);
  }
  return best;
}

TimeCurve best_curve(const Points& points, double noise) {
  TimeCurve curve = curve_over({points.front().size, points.back().size}, points);
  while (curve.sizes.size() <= kMostPieces) {
    TimeCurve next = refined(curve, points, noise);
    if (next.sizes.size() == curve.sizes.size()) break;
    curve = std::move(next);
  }
  return curve;
}

// Predicts each inner size from the others. Takes the median error, because at a bend the error
// without the size is larger than that of the full curve.
double left_out_spread(const Points& points, double noise) {
  std::vector<double> errors;
  for (size_t i = 1; i + 1 < points.size(); ++i) {
    Points others = points;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (others.size() < 3) continue;
    errors.push_back(
        std::abs(std::log(best_curve(others, noise).at(points[i].size) / points[i].seconds)));
  }
  return errors.empty() ? noise : normal_spread(errors);
}

}  // namespace

double TimeCurve::at(double size) const {
  if (size <= sizes.front()) return seconds.front();
  const auto above = std::ranges::lower_bound(sizes, size);
  const size_t end = std::min(static_cast<size_t>(above - sizes.begin()), sizes.size() - 1);
  const double slope = (seconds[end] - seconds[end - 1]) / (sizes[end] - sizes[end - 1]);
  return seconds[end - 1] + slope * (size - sizes[end - 1]);
}

TimeCurve fit_time_curve(std::vector<TimedSize> points) {
  std::ranges::sort(points, {}, &TimedSize::size);
  std::vector<double> sizes;
  for (const TimedSize& point : points) {
    if (sizes.empty() || point.size > sizes.back()) sizes.push_back(point.size);
  }
  if (sizes.size() < 3) {
    throw Error(fmt::format("{} sizes were given; a curve needs at least three", sizes.size()));
  }
  const double noise = noise_of(points);
  for (TimedSize& point : points) point.spread = std::max(1.0, point.spread / noise);
  TimeCurve curve = best_curve(points, noise);
  curve.spread = left_out_spread(points, noise);
  return curve;
}

}  // namespace windtunnel
