#include "models/interval_theory.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace windtunnel {
namespace {

double loss(double interval_s, double save_s, double mtbf_s) {
  return expected_segment_s(interval_s, save_s, 0, mtbf_s) / interval_s;
}

// The smallest loss on a fine logarithmic grid.
double best_by_search(double save_s, double mtbf_s) {
  double best_s = 0;
  double least = 1e300;
  for (double log_s = std::log(mtbf_s * 1e-4); log_s < std::log(mtbf_s * 10); log_s += 1e-4) {
    const double here = loss(std::exp(log_s), save_s, mtbf_s);
    if (here < least) {
      least = here;
      best_s = std::exp(log_s);
    }
  }
  return best_s;
}

TEST(IntervalTheory, OptimumIsTheMinimumOfTheExactExpectation) {
  for (const double save_s : {0.01, 1.0, 60.0, 1000.0, 5000.0}) {
    EXPECT_NEAR(optimal_interval_s(save_s, 3600) / best_by_search(save_s, 3600), 1, 3e-4) << save_s;
  }
}

TEST(IntervalTheory, YoungAndDalyByHand) {
  EXPECT_DOUBLE_EQ(young_interval_s(50, 10000), 1000);
  // d / 2M = 1/400: 1000 (1 + (1/20)/3 + 1/3600) - 50.
  EXPECT_NEAR(daly_interval_s(50, 10000), 1000 * (1 + 1 / 60.0 + 1 / 3600.0) - 50, 1e-9);
  EXPECT_EQ(daly_interval_s(20000, 10000), 10000);
  EXPECT_EQ(daly_interval_s(30000, 10000), 10000);
}

TEST(IntervalTheory, YoungAndDalyTendToTheOptimumForCheapSaves) {
  constexpr double kMtbf = 1e6;
  EXPECT_NEAR(young_interval_s(1, kMtbf) / optimal_interval_s(1, kMtbf), 1, 1e-3);
  EXPECT_NEAR(daly_interval_s(1, kMtbf) / optimal_interval_s(1, kMtbf), 1, 1e-6);
  // Daly's own claim: near the optimum up to d = M / 2, where Young is 25 % off.
  EXPECT_NEAR(daly_interval_s(0.5, 1) / optimal_interval_s(0.5, 1), 1, 0.01);
  EXPECT_GT(young_interval_s(0.5, 1) / optimal_interval_s(0.5, 1), 1.25);
}

TEST(IntervalTheory, NothingToSaveMeansSavingAlways) {
  EXPECT_NEAR(optimal_interval_s(0, 3600), 0, 1e-4);
}

TEST(IntervalTheory, SegmentWithoutFailuresIsWorkAndSave) {
  EXPECT_NEAR(expected_segment_s(100, 5, 30, 1e12), 105, 1e-6);
}

// Meta RSC-1 (Kokolis et al., HPCA 2025): 2,000 nodes, 6.5 failures per 1000 node-days, 5 minutes
// to restart: 0.93 with checkpoints every 5 minutes; hourly ones would give 0.684.
TEST(IntervalTheory, AdditiveEttrOfMetaRsc) {
  const double mtbf_s = 86400 / (2000 * 6.5e-3);
  EXPECT_NEAR(additive_ettr(300, 0, 300, mtbf_s), 0.932, 5e-4);
  EXPECT_NEAR(additive_ettr(3600, 0, 300, mtbf_s), 0.684, 5e-4);
}

}  // namespace
}  // namespace windtunnel
