#include "models/base/fit/nonnegative_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

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
      x[j] = random.below(3) == 0 ? 0 : std::exp(6 * random.normal());  // of different magnitudes
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

// Karush-Kuhn-Tucker conditions: the gradient is 0 where a coefficient is above 0, and does not
// call for an increase where it is 0.
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

}  // namespace
}  // namespace windtunnel
