#include "validate/accuracy/faults/fault_ranges.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/base/error.hpp"
#include "policies/lowering/for_each_index.hpp"

namespace windtunnel {
namespace {

constexpr int kLevels = 5;
constexpr int kInside = 24;
constexpr double kGeometricFrom = 3;

using Shares = std::vector<double>;  // position in each input's range, from 0 to 1

std::vector<double> values_at(const std::vector<FaultInput>& inputs, const Shares& shares) {
  std::vector<double> values;
  for (size_t i = 0; i < inputs.size(); ++i) values.push_back(inputs[i].at(shares[i]));
  return values;
}

double best_share(const FaultInput& input) {
  if (input.effect == 0) return 0.5;
  return input.effect > 0 ? 1 : 0;
}

// Adds the best and worst ends, combined with the levels of inputs whose effect is not known.
void add_corners(const std::vector<FaultInput>& inputs, std::vector<Shares>& points) {
  const size_t first = points.size();
  for (const bool best : {true, false}) {
    Shares corner;
    for (const FaultInput& input : inputs) {
      corner.push_back(best ? best_share(input) : 1 - best_share(input));
    }
    points.push_back(corner);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].effect != 0) continue;
    const std::vector<Shares> before(points.begin() + static_cast<std::ptrdiff_t>(first),
                                     points.end());
    points.resize(first);
    for (Shares corner : before) {
      for (int level = 0; level < kLevels; ++level) {
        corner[i] = static_cast<double>(level) / (kLevels - 1);
        points.push_back(corner);
      }
    }
  }
}

// Adds evenly distributed points: the additive recurrence with square roots of primes (Weyl).
void add_inside(size_t inputs, std::vector<Shares>& points) {
  constexpr std::array<int, 12> kPrimes = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  CHECK(inputs <= kPrimes.size(), "{} inputs that are not published", inputs);
  for (int point = 1; point <= kInside; ++point) {
    Shares shares;
    for (size_t i = 0; i < inputs; ++i) {
      const double turn = point * std::sqrt(static_cast<double>(kPrimes[i]));
      shares.push_back(turn - std::floor(turn));
    }
    points.push_back(shares);
  }
}

// The middle first.
std::vector<Shares> points_of(const std::vector<FaultInput>& inputs) {
  std::vector<Shares> points = {Shares(inputs.size(), 0.5)};
  if (inputs.empty()) return points;
  add_corners(inputs, points);
  add_inside(inputs.size(), points);
  return points;
}

std::vector<double> results_at(const std::vector<FaultInput>& inputs,
                               const std::vector<Shares>& points, const FaultPredictor& predict,
                               int threads) {
  std::vector<double> results(points.size());
  for_each_index(points.size(), threads,
                 [&](size_t point) { results[point] = predict(values_at(inputs, points[point])); });
  return results;
}

PredictedRange range_of(const std::vector<double>& results, size_t points) {
  const auto end = results.begin() + static_cast<std::ptrdiff_t>(points);
  const auto [low, high] = std::minmax_element(results.begin(), end);
  return {results.front(), *low, *high, static_cast<int>(points)};
}

}  // namespace

double FaultInput::at(double share) const {
  if (low > 0 && high > kGeometricFrom * low) return low * std::pow(high / low, share);
  return low + share * (high - low);
}

PredictedRange range_over(std::vector<FaultInput>& inputs, const FaultPredictor& predict,
                          int threads) {
  std::vector<Shares> points = points_of(inputs);
  const size_t in_range = points.size();
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (const double end : {0.0, 1.0}) {
      Shares shares = points.front();
      shares[i] = end;
      points.push_back(shares);
    }
  }
  const std::vector<double> results = results_at(inputs, points, predict, threads);
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].swing = std::abs(results[in_range + 2 * i + 1] - results[in_range + 2 * i]);
  }
  return range_of(results, results.size());
}

PredictedRange range_within(const std::vector<FaultInput>& inputs, const FaultPredictor& predict,
                            const FaultConstraint& allowed, int threads) {
  Shares best;
  for (const FaultInput& input : inputs) best.push_back(input.effect > 0 ? 1 : 0);
  if (!allowed(values_at(inputs, best))) {
    throw Error("no values of the unpublished inputs are consistent with the measured value");
  }
  std::vector<Shares> points = points_of(inputs);
  const auto between = [&](const Shares& far, double share) {
    Shares shares;
    for (size_t i = 0; i < far.size(); ++i) shares.push_back(best[i] + share * (far[i] - best[i]));
    return shares;
  };
  for (Shares& point : points) {
    if (allowed(values_at(inputs, point))) continue;
    double inside = 0;
    double outside = 1;
    while (outside - inside > 1e-6) {
      const double middle = (inside + outside) / 2;
      (allowed(values_at(inputs, between(point, middle))) ? inside : outside) = middle;
    }
    point = between(point, inside);
  }
  const std::vector<double> results = results_at(inputs, points, predict, threads);
  return range_of(results, results.size());
}

}  // namespace windtunnel
