#include "report/figures/ranking.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace windtunnel {
namespace {

TEST(Ranking, WhatFitsThenWhatIsKnownThenWhatIsMore) {
  const double unknown = std::nan("");
  EXPECT_EQ(best_first({{false, 9}, {true, unknown}, {true, -1}, {true, 2}, {true, 2}}),
            (std::vector<std::size_t>{3, 4, 2, 1, 0}));
  EXPECT_EQ(best_first({{false, unknown}, {false, 1}}), (std::vector<std::size_t>{1, 0}));
}

// Trials that met the same failures differ less than they vary.
TEST(Ranking, ADifferenceCountsWhereItIsSureAndWorthIt) {
  const std::vector<double> best = {0.90, 0.80, 0.95, 0.85};
  const auto against = [&](std::vector<double> less) {
    for (size_t i = 0; i < best.size(); ++i) less[i] = best[i] - less[i];
    return paired_lead(best, less);
  };
  EXPECT_TRUE(is_gain(against({0.010, 0.011, 0.009, 0.010})));
  EXPECT_FALSE(is_gain(against({0.010, -0.011, 0.012, -0.004}))) << "chance";
  EXPECT_FALSE(is_gain(against({1e-4, 1e-4, 1e-4, 1e-4}))) << "sure, and nothing";
  EXPECT_NEAR(against({0.010, 0.011, 0.009, 0.010}).mean, 0.010, 1e-12);
}

}  // namespace
}  // namespace windtunnel
