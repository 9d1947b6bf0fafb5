#include "models/machine/order_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace windtunnel {
namespace {

// The expected k-th smallest of n uniform values is k / (n + 1).
TEST(OrderStatistics, OfUniformVariables) {
  const auto uniform = [](double below, double /*above*/) { return below; };
  for (const double n : {1, 2, 17, 256, 5000}) {
    for (const double k : {1.0, std::ceil(n / 3), n - 1, n}) {
      if (k < 1) continue;
      const Moments order = moments_of_order(n, k, uniform);
      EXPECT_NEAR(order.mean, k / (n + 1), 1e-9 * order.mean) << n << " " << k;
      const double variance = k * (n + 1 - k) / ((n + 1) * (n + 1) * (n + 2));
      EXPECT_NEAR(order.variance, variance, 1e-6 * variance) << n << " " << k;
    }
  }
}

TEST(OrderStatistics, OfExponentialVariablesAreHarmonicNumbers) {
  for (const int n : {1, 5, 256}) {
    for (const int k : {1, (n + 1) / 2, n}) {
      double sum = 0;
      for (int i = n - k + 1; i <= n; ++i) sum += 1.0 / i;
      EXPECT_NEAR(expected_exponential_order(n, k), sum, 1e-12 * sum);
      const auto quantile = [](double, double above) { return -std::log(above); };
      EXPECT_NEAR(moments_of_order(n, k, quantile).mean, sum, 1e-9 * sum) << n << " " << k;
    }
  }
}

// Harter's tables (David and Nagaraja, appendix) list the largest of 2, 5 and 100 normal variables.
TEST(OrderStatistics, OfNormalVariables) {
  EXPECT_NEAR(expected_normal_order(2, 2), 0.56419, 1e-5);
  EXPECT_NEAR(expected_normal_order(5, 5), 1.16296, 1e-5);
  EXPECT_NEAR(expected_normal_order(100, 100), 2.50759, 1e-5);
  EXPECT_NEAR(expected_normal_order(5, 3), 0, 1e-9);
  EXPECT_NEAR(expected_normal_order(7, 2), -expected_normal_order(7, 6), 1e-9);
}

TEST(OrderStatistics, OfParetoVariablesByQuadratureAndByGammaFunctions) {
  for (const double exponent : {2.5, 6.0}) {
    const auto quantile = [&](double, double above) { return std::pow(above, -1 / exponent); };
    for (const int k : {1, 100, 250, 256}) {
      const double closed = expected_pareto_order(256, k, exponent);
      EXPECT_NEAR(moments_of_order(256, k, quantile).mean, closed, 1e-6 * closed) << k;
    }
  }
  EXPECT_TRUE(std::isinf(expected_pareto_order(10, 10, 1)));
  EXPECT_TRUE(std::isfinite(expected_pareto_order(10, 9, 1)));
}

TEST(OrderStatistics, BinomialChancesAreAll) {
  for (const double share : {0.0, 0.03, 0.5, 1.0}) {
    double all = 0;
    double mean = 0;
    for (int k = 0; k <= 300; ++k) {
      all += binomial_chance(300, k, share);
      mean += k * binomial_chance(300, k, share);
    }
    EXPECT_NEAR(all, 1, 1e-10);
    EXPECT_NEAR(mean, 300 * share, 1e-8);
  }
}

}  // namespace
}  // namespace windtunnel
