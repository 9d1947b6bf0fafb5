#include "models/calibration/slowdown.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/calibration/sample.hpp"

namespace windtunnel {
namespace {

// Other processes double a work's time; beside them for half of its time, it takes sqrt(2) times as
// long. Slowdowns of sizes differ by 0.1 (log) at a share of 1, so that the 95 % interval grows by
// 1.96 * 0.1 * 0.5 at each end.
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

// A quarter of the timings that took 0.26 (log) longer than the rest ran beside others all the
// time, which explains a share of 0.25. If they took no longer than the rest, all timings have the
// same share.
TEST(Slowdown, WhatAPartExplainsIsNotInTheRest) {
  EXPECT_NEAR(share_of_rest(0.25, 0.25, 0.26), 0, 1e-12);
  EXPECT_NEAR(share_of_rest(0.5, 0.25, 0.26), 0.25, 1e-12);
  EXPECT_EQ(share_of_rest(0.5, 0.25, 0), 0.5);
  EXPECT_EQ(share_of_rest(0.5, 0.25, -0.1), 0.5);  // the share never exceeds the observed one
  EXPECT_EQ(share_of_rest(0.1, 0.25, 0.26), 0);
}

}  // namespace
}  // namespace windtunnel
