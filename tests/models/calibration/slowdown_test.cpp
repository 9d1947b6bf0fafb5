#include "models/calibration/slowdown.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/calibration/sample.hpp"

namespace windtunnel {
namespace {

// Twice as long beside others, which were there for half of the time: sqrt(2) times as long. Sizes
// differ by 0.1 at a share of 1, so the interval of 95 % gets wider by 1.96 * 0.1 * 0.5 at each
// end.
TEST(Slowdown, AloneAWorkTakesAsMuchLess) {
  Sample beside;
  beside.median_s = beside.low_s = beside.high_s = beside.p05_s = beside.p95_s = std::sqrt(2.0);
  beside.disturbed = 0.5;
  const Sample sample = alone(beside, {.log = std::log(2.0)});
  EXPECT_NEAR(sample.median_s, 1, 1e-12);
  EXPECT_NEAR(sample.p95_s, 1, 1e-12);
  EXPECT_NEAR(std::log(sample.high_s), 0.098, 1e-12);
  EXPECT_NEAR(std::log(sample.low_s), -0.098, 1e-12);
  EXPECT_EQ(sample.disturbed, 0);
}

// Others beside a quarter of the timings all the time (0.26 longer in the logarithm) explain a
// share of 0.25; where that part was no longer than the rest, all have the same share.
TEST(Slowdown, WhatAPartExplainsIsNotInTheRest) {
  EXPECT_NEAR(share_of_rest(0.25, 0.25, 0.26), 0, 1e-12);
  EXPECT_NEAR(share_of_rest(0.5, 0.25, 0.26), 0.25, 1e-12);
  EXPECT_EQ(share_of_rest(0.5, 0.25, 0), 0.5);
  EXPECT_EQ(share_of_rest(0.5, 0.25, -0.1), 0.5);  // no more than was seen
  EXPECT_EQ(share_of_rest(0.1, 0.25, 0.26), 0);
}

}  // namespace
}  // namespace windtunnel
