#include "models/reliability/stragglers/best_count.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

TEST(BestCount, AllWhereNobodyIsLate) {
  EXPECT_EQ(best_count(
                9, [](int) { return 1.0; }, [](int k) { return double(k); }),
            9);
}

TEST(BestCount, WhereTheRateIsHighest) {
  // The rates are 6 / 1, 7 / 1.5 and 8 / 4.
  const auto seconds = [](int k) { return k <= 6 ? 1.0 : k == 7 ? 1.5 : 4.0; };
  EXPECT_EQ(best_count(8, seconds, [](int k) { return double(k); }), 6);
}

// Two states without memory: the best count depends on k - n (1 - share) only, whatever happened
// last.
TEST(BestCounts, BurstsThatDoNotLastSayNothing) {
  BestCounts counts({.bursts = {.good = 1 / 0.1, .bad = 1 / 0.9, .slowdown = 5}}, 40, 0);
  const int first = counts.after(0);
  EXPECT_EQ(counts.after(10), first);
  EXPECT_EQ(BestCounts({.share = 0.1, .slowdown = 5}, 40, 0).after(0), first);
  EXPECT_LT(first, 36);  // fewer than are fast on average: it hardly ever waits
  EXPECT_GT(first, 25);
}

// The count leaves out the slow ones, and one more in case another burst begins.
TEST(BestCounts, LongBurstsAreLeftOut) {
  BestCounts counts({.bursts = {.good = 1000, .bad = 100, .slowdown = 5}}, 40, 0);
  EXPECT_EQ(counts.after(7), 32);
  EXPECT_EQ(counts.after(0), 39);
}

TEST(BestCounts, NoiseMakesMoreWorkersWorthLess) {
  const Jitter jitter{.exponential = 0.3};
  int last = 65;
  for (const double noise : {0.0, 64.0, 8.0, 1.0}) {
    const int best = BestCounts(jitter, 64, noise).after(0);
    EXPECT_LT(best, last) << noise;
    last = best;
  }
}

}  // namespace
}  // namespace windtunnel
