#include "models/compression/robust.hpp"

#include <gtest/gtest.h>

#include "tests/models/compression/kernel_flops.hpp"

namespace windtunnel {
namespace {

constexpr double kElements = 1e6;
constexpr double kBytes = 2;

RobustAggregation of(RobustRule rule, RobustForm form = RobustForm::gathered) {
  return {.rule = rule, .faulty = 2, .form = form};
}

Recipe recipe_of(const RobustAggregation& robust, int ranks) {
  return robust_recipe(robust, kElements, {.ranks = ranks, .nodes = ranks}, kBytes);
}

// Gathering all gradients on all ranks takes n / 2 times the bytes of an all-reduce; aggregating in
// slices takes as many as one.
TEST(Robust, SendsAllGradientsOrAsMuchAsASum) {
  for (const int n : {7, 16, 64}) {
    const double sum = 2 * (n - 1.0) / n * kElements * kBytes;
    for (const RobustRule rule : {RobustRule::median, RobustRule::krum, RobustRule::flag}) {
      const ReducingGroup group{.ranks = n, .nodes = n};
      EXPECT_NEAR(wire_bytes(recipe_of(of(rule), n), group), n / 2.0 * sum, 1e-9 * n * sum);
      const double sliced = wire_bytes(recipe_of(of(rule, RobustForm::sliced), n), group);
      const double products = rule == RobustRule::median ? 0 : 2 * (n - 1.0) / n * n * n * 4;
      EXPECT_NEAR(sliced, sum + products, 1e-9 * sum);
    }
  }
}

// Each pair takes two FLOPs per coordinate; in slices a rank has one n-th of the coordinates.
TEST(Robust, ProductsOfAllPairs) {
  const int n = 16;
  EXPECT_NEAR(kernel_flops(recipe_of(of(RobustRule::krum), n)), 2.0 * n * n * kElements, 1);
  EXPECT_NEAR(kernel_flops(recipe_of(of(RobustRule::krum, RobustForm::sliced), n)),
              2.0 * n * kElements, 1);
  RobustAggregation flag = of(RobustRule::flag);
  flag.iterations = 3;
  EXPECT_NEAR(kernel_flops(recipe_of(flag, n)), 2.0 * n * n * kElements + 3 * 9.0 * n * n * n, 1);
  EXPECT_EQ(kernel_flops(recipe_of(of(RobustRule::median), n)), 0);
}

TEST(Robust, WhatItKeeps) {
  const int n = 16;
  EXPECT_EQ(recipe_of(of(RobustRule::monna), n).state_bytes, 4 * kElements);
  EXPECT_EQ(recipe_of(of(RobustRule::krum), n).state_bytes, 0);
  EXPECT_EQ(recipe_of(of(RobustRule::krum), n).buffer_bytes, n * kElements * kBytes);
  EXPECT_EQ(recipe_of(of(RobustRule::krum, RobustForm::sliced), n).buffer_bytes,
            kElements * kBytes);
}

// The more ranks may be faulty, the fewer models are averaged.
TEST(Robust, FewerAreReadTheMoreMayBeFaulty) {
  for (const RobustRule rule : {RobustRule::monna, RobustRule::multi_krum}) {
    double last = 1e300;
    for (const int faulty : {0, 1, 3, 6}) {
      const double bytes = kernel_bytes(recipe_of({.rule = rule, .faulty = faulty}, 16));
      EXPECT_LT(bytes, last);
      last = bytes;
    }
  }
}

TEST(Robust, BearsSoManyOfSoMany) {
  EXPECT_EQ(why_not(of(RobustRule::krum), 7), "");
  EXPECT_NE(why_not(of(RobustRule::krum), 6), "");
  EXPECT_EQ(why_not(of(RobustRule::median), 5), "");
  EXPECT_NE(why_not(of(RobustRule::median), 4), "");
  EXPECT_NE(why_not(of(RobustRule::monna, RobustForm::sliced), 16), "");
}

}  // namespace
}  // namespace windtunnel
