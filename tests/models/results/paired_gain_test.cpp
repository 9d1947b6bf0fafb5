#include "models/results/paired_gain.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

TEST(PairedGain, OverTheTrialsThatBothHave) {
  const Estimate gain = paired_gain({0.9, 0.8, 0.7, 0.1}, {0.8, 0.7, 0.6});
  EXPECT_NEAR(gain.mean, 0.1, 1e-12);
  EXPECT_NEAR(gain.low, 0.1, 1e-12) << "the same in each trial: sure, however much trials differ";
  EXPECT_EQ(paired_gain({}, {0.8}), Estimate{});
}

TEST(PairedGain, ChanceAndTriflesAreNone) {
  EXPECT_TRUE(is_gain({.mean = 0.01, .low = 0.001, .high = 0.02}));
  EXPECT_FALSE(is_gain({.mean = 0.01, .low = -0.001, .high = 0.02})) << "chance";
  EXPECT_FALSE(is_gain({.mean = 1e-4, .low = 9e-5, .high = 2e-4})) << "a trifle";
  EXPECT_TRUE(is_gain({.mean = 1e-4, .low = 9e-5, .high = 2e-4}, 5e-5));
  EXPECT_EQ(no_gain_text(), "less than 0.05 points of goodput, or no more than chance can explain");
}

// A gain is not proven, but neither is it proven to be negligible.
TEST(PairedGain, AsGoodNeedsTrialsThatTell) {
  EXPECT_TRUE(is_as_good({.mean = 2e-4, .low = -1e-4, .high = 9e-4}));
  EXPECT_FALSE(is_as_good({.mean = 2e-3, .low = -1e-3, .high = 5e-3})) << "trials do not tell";
  EXPECT_FALSE(is_as_good({.mean = 8e-4, .low = 7e-4, .high = 9e-4})) << "a gain";
  const std::vector<std::vector<double>> trials = {{0.9, 0.9, 0.9, 0.9}, {0.9, 0.9, 0.9, 0.88}};
  EXPECT_EQ(as_good_places(trials, 0), std::pair(size_t{0}, size_t{0}));
  EXPECT_EQ(as_good_loss_text(), "at most 0.1 points of goodput below the best");
}

// The range around the best holds equally good values on both sides, and ends at the first worse
// one.
TEST(PairedGain, PlacesAroundTheBest) {
  const auto at = [](double goodput) { return std::vector<double>(8, goodput); };
  const std::vector<std::vector<double>> trials = {at(0.9), at(0.8),    at(0.8999),
                                                   at(0.9), at(0.8998), at(0.89)};
  EXPECT_EQ(as_good_places(trials, 3), std::pair(size_t{2}, size_t{4}));
  EXPECT_EQ(as_good_places({at(0.9)}, 0), std::pair(size_t{0}, size_t{0}));
}

}  // namespace
}  // namespace windtunnel
