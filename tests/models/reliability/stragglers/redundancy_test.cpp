#include "models/reliability/stragglers/redundancy.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

using enum RedundancyScheme;

constexpr Redundancy kGradientCode{.scheme = gradient_coding, .stragglers = 15};
constexpr Redundancy kSelective{
    .scheme = sr_sgc, .burst = 2, .window = 3, .distinct = 23, .tolerance = 1};
constexpr Redundancy kMultiplexed{
    .scheme = m_sgc, .burst = 1, .window = 2, .distinct = 27, .tolerance = 1};

// The authors list these loads of a worker, as shares of the whole batch, for 256 workers (arXiv
// 2211.13802; github.com/mamaj/Sequential-Gradient-Coding-2, "good results.txt").
TEST(Redundancy, LoadsOfThePublishedCodes) {
  EXPECT_NEAR(load_of(kGradientCode, 256) / 256, 0.062500, 1e-6);
  EXPECT_NEAR(load_of(kSelective, 256) / 256, 0.050781, 1e-6);
  EXPECT_NEAR(load_of(kMultiplexed, 256) / 256, 0.007543, 1e-6);
  EXPECT_NEAR(load_of({}, 256) / 256, 0.003906, 1e-6);
  EXPECT_EQ(coded_stragglers(kSelective), 12);
  EXPECT_EQ(delay_of(kGradientCode), 0);
  EXPECT_EQ(delay_of(kSelective), 2);
  EXPECT_EQ(delay_of(kMultiplexed), 1);
  EXPECT_EQ(results_of(kMultiplexed), 2);
  EXPECT_EQ(results_of(kSelective), 1);
}

TEST(Redundancy, LoadsInClosedForm) {
  // All workers may straggle once per window, so that each task is repeated without a code.
  EXPECT_DOUBLE_EQ(load_of({.scheme = m_sgc, .burst = 1, .window = 2, .distinct = 8}, 8), 2);
  EXPECT_DOUBLE_EQ(load_of({.scheme = m_sgc, .burst = 2, .window = 5, .distinct = 8}, 8), 1.5);
  EXPECT_DOUBLE_EQ(load_of({.scheme = replicated, .copies = 3}, 9), 3);
  EXPECT_DOUBLE_EQ(load_of({.scheme = backup_workers, .stragglers = 4}, 20), 1.25);
  EXPECT_DOUBLE_EQ(load_of({.scheme = drop_slowest, .stragglers = 4}, 20), 1);
}

// The longer the window, the less redundant work there is; it approaches that without a code.
TEST(Redundancy, AMultiplexedCodeCostsLessTheLongerItsWindow) {
  double last = 1e9;
  for (int window = 2; window < 200; ++window) {
    Redundancy own = kMultiplexed;
    own.window = window;
    const double load = load_of(own, 256);
    EXPECT_LT(load, last);
    EXPECT_GT(load, 1);
    last = load;
  }
  EXPECT_NEAR(last, 1, 0.01);
}

TEST(Redundancy, WhatCannotBeIsNamed) {
  EXPECT_EQ(why_not(kSelective, 256), "");
  EXPECT_EQ(why_not(kMultiplexed, 256), "");
  EXPECT_EQ(why_not(kGradientCode, 16), "");
  EXPECT_NE(why_not(kGradientCode, 15), "");
  EXPECT_NE(why_not(kMultiplexed, 26), "");
  EXPECT_NE(why_not({.scheme = replicated, .copies = 3}, 8), "");
  Redundancy own = kSelective;
  own.window = 4;
  EXPECT_NE(why_not(own, 256), "");
  own = kMultiplexed;
  own.tolerance = 0;
  EXPECT_NE(why_not(own, 256), "");
  own = kMultiplexed;
  own.burst = 2;
  EXPECT_NE(why_not(own, 256), "");
}

TEST(Redundancy, ProgressSaturatesWithNoise) {
  EXPECT_DOUBLE_EQ(step_progress(0, 12), 12);
  EXPECT_DOUBLE_EQ(step_progress(12, 12), 6);
  EXPECT_NEAR(step_progress(1e9, 12), 12, 1e-6);
}

}  // namespace
}  // namespace windtunnel
