#include "models/workload/sequence_lengths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(SequenceLengths, BucketsGetTheirShares) {
  const LengthDistribution bimodal = {.buckets = {{100, 200, 0.75}, {50000, 100000, 0.25}}};
  const std::vector<int> lengths = draw_lengths(bimodal, 4000, 1);
  const auto within = [&](int low, int high) {
    return static_cast<double>(std::ranges::count_if(
               lengths, [&](int length) { return length >= low && length <= high; })) /
           4000;
  };
  // The tolerance is four standard deviations of a share of 4,000 draws.
  EXPECT_NEAR(within(100, 200), 0.75, 4 * std::sqrt(0.75 * 0.25 / 4000));
  EXPECT_DOUBLE_EQ(within(100, 200) + within(50000, 100000), 1);
}

TEST(SequenceLengths, HalfAreShorterThanTheMedianAndNoneLongerThanTheLongest) {
  const LengthDistribution tail = {.median = 1000, .sigma = 2, .longest = 8000};
  const std::vector<int> lengths = draw_lengths(tail, 4000, 1);
  const auto below = std::ranges::count_if(lengths, [](int length) { return length < 1000; });
  EXPECT_NEAR(static_cast<double>(below) / 4000, 0.5, 4 * 0.5 / std::sqrt(4000));
  EXPECT_EQ(std::ranges::max(lengths), 8000);
  EXPECT_GE(std::ranges::min(lengths), 1);
  EXPECT_EQ(draw_lengths({.median = 7, .longest = 7}, 2, 1), (std::vector<int>{7, 7}));
}

TEST(SequenceLengths, WhatIsNoDistributionIsRefused) {
  const auto refused = [](const LengthDistribution& distribution) {
    EXPECT_THROW(draw_lengths(distribution, 1, 1), Error);
  };
  refused({.median = 0, .longest = 10});
  refused({.median = 20, .longest = 10});
  refused({.median = 20, .sigma = -1, .longest = 100});
  refused({.median = 20, .sigma = kNan, .longest = 100});
  refused({.median = 20, .longest = 1e12});
  refused({.buckets = {{1, 10, 0.5}}});
  refused({.buckets = {{1, 10, kNan}}});
  refused({.buckets = {{10, 1, 1}}});
  refused({.buckets = {{1, 10, 2}, {1, 10, -1}}});
}

}  // namespace
}  // namespace windtunnel
