#include "models/calibration/time_curve.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/base/error.hpp"
#include "models/base/fit/nonnegative_fit.hpp"
#include "models/base/random.hpp"

namespace windtunnel {
namespace {

TEST(NonnegativeFit, FindsCoefficientsThatAreNotNegative) {
  RandomStream random(1, RandomPurpose::test, 0);
  for (int round = 0; round < 50; ++round) {
    const int columns = 1 + static_cast<int>(random.below(6));
    std::vector<std::vector<double>> a(static_cast<size_t>(columns), std::vector<double>(40));
    std::vector<double> x(a.size());
    std::vector<double> y(40, 0.0);
    for (size_t j = 0; j < a.size(); ++j) {
      x[j] = random.below(3) == 0 ? 0 : std::exp(6 * random.normal());  // of unlike units
      for (size_t i = 0; i < y.size(); ++i) {
        a[j][i] = random.uniform() * std::exp(static_cast<double>(j));
        y[i] += x[j] * a[j][i];
      }
    }
    const std::vector<double> found = nonnegative_fit(a, y, std::vector<double>(40, 1.0));
    double largest = 0;
    for (size_t j = 0; j < a.size(); ++j) largest = std::max(largest, x[j]);
    for (size_t j = 0; j < a.size(); ++j) EXPECT_NEAR(found[j], x[j], 1e-6 * largest);
  }
}

// The conditions of Karush, Kuhn and Tucker: no gradient where a coefficient is above 0, and none
// that would raise one that is 0.
TEST(NonnegativeFit, NoDirectionImprovesTheResult) {
  RandomStream random(2, RandomPurpose::test, 0);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::vector<double>> a(5, std::vector<double>(12));
    std::vector<double> y(12);
    for (size_t i = 0; i < y.size(); ++i) {
      for (std::vector<double>& column : a) column[i] = random.normal();
      y[i] = random.normal();
    }
    const std::vector<double> x = nonnegative_fit(a, y, std::vector<double>(12, 1.0));
    for (size_t j = 0; j < a.size(); ++j) {
      double gradient = 0;
      for (size_t i = 0; i < y.size(); ++i) {
        double rest = y[i];
        for (size_t other = 0; other < a.size(); ++other) rest -= x[other] * a[other][i];
        gradient += a[j][i] * rest;
      }
      EXPECT_GE(x[j], 0);
      if (x[j] > 0) {
        EXPECT_NEAR(gradient, 0, 1e-9);
      } else {
        EXPECT_LE(gradient, 1e-9);
      }
    }
  }
}

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
// 50 GB/s up to 1 MB, 10 GB/s beyond.
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
  // The two largest: as sure as the rest they would be a piece of their own.
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
