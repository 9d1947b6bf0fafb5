#include "models/calibration/time_curve.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/base/error.hpp"
#include "models/base/random.hpp"

namespace windtunnel {
namespace {

std::vector<TimedSize> timed_sizes(double (*law)(double), double noise, std::uint64_t seed) {
  RandomStream random(seed, RandomPurpose::test, 1);
  std::vector<TimedSize> points;
  for (double size = 1e3; size < 2e9; size *= 2) {
    points.push_back({size, law(size) * std::exp(noise * random.normal()), noise});
  }
  return points;
}

double latency_and_rate(double size) {
  return 5e-6 + size / 1e10;
}
// Bytes move at 50 GB/s up to 1 MB and at 10 GB/s beyond.
double two_rates(double size) {
  return 1e-7 + std::min(size, 1e6) / 5e10 + std::max(0.0, size - 1e6) / 1e10;
}

TEST(TimeCurve, OneRateGivesOnePieceAndTwoRatesTwo) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_LE(fit_time_curve(timed_sizes(latency_and_rate, 0.01, seed)).sizes.size(), 3U);
    const TimeCurve curve = fit_time_curve(timed_sizes(two_rates, 0.01, seed));
    EXPECT_GE(curve.sizes.size(), 3U);
    for (double size = 2e3; size < 1e9; size *= 1.7) {
      EXPECT_NEAR(curve.at(size) / two_rates(size), 1, 0.06) << size;
    }
  }
}

TEST(TimeCurve, ASpikeDoesNotBendIt) {
  std::vector<TimedSize> points = timed_sizes(latency_and_rate, 0.01, 3);
  points[12].seconds *= 5;
  const TimeCurve curve = fit_time_curve(points);
  for (double size = 1e3; size < 1e9; size *= 1.7) {
    EXPECT_NEAR(curve.at(size) / latency_and_rate(size), 1, 0.05) << size;
  }
}

TEST(TimeCurve, FollowsWhatIsSure) {
  std::vector<TimedSize> points;
  for (double size = 1e3; size < 1e8; size *= 2) points.push_back({size, 1e-6 + size / 1e10, 0.01});
  std::vector<TimedSize> unsure = points;
  // If the two largest sizes were as certain as the rest, they would get a piece of the curve of
  // their own.
  for (size_t i = points.size() - 2; i < points.size(); ++i) {
    points[i].seconds *= 1.5;
    unsure[i].seconds *= 1.5;
    unsure[i].spread = 0.3;
  }
  const double last = points.back().size;
  EXPECT_NEAR(fit_time_curve(points).at(last) / (last / 1e10), 1.5, 0.03);
  EXPECT_NEAR(fit_time_curve(unsure).at(last) / (last / 1e10), 1, 0.03);
}

TEST(TimeCurve, NeverFalls) {
  RandomStream random(4, RandomPurpose::test, 2);
  for (int round = 0; round < 30; ++round) {
    std::vector<TimedSize> points;
    for (double size = 1; size < 1e6; size *= 3) points.push_back({size, random.uniform(), 0.1});
    const TimeCurve curve = fit_time_curve(points);
    double before = 0;
    for (double size = 0.5; size < 1e7; size *= 1.3) {
      EXPECT_GE(curve.at(size), before);
      before = curve.at(size);
    }
  }
}

TEST(TimeCurve, NeedsThreeSizes) {
  EXPECT_THROW(fit_time_curve({{1, 1, 0}, {2, 2, 0}, {2, 2, 0}}), Error);
}

}  // namespace
}  // namespace windtunnel
