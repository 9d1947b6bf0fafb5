#include "models/reliability/waiting_theory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace windtunnel {
namespace {

TEST(WaitingTheory, RepairsTakeWhatIsDrawnOnAverage) {
  for (const RepairTime& repair :
       {RepairTime{.fixed_s = 3600}, RepairTime{.empirical_s = {10, 20, 60}},
        RepairTime{.lognormal_median_s = 100, .lognormal_sigma = 0.8}}) {
    for (const double most_s : {50.0, 1e9}) {
      RandomStream random(1, RandomPurpose::test, 0);
      double sum_s = 0;
      constexpr int kDraws = 100000;
      for (int i = 0; i < kDraws; ++i) sum_s += std::min(most_s, draw_repair_s(repair, random));
      EXPECT_NEAR(mean_repair_s(repair, most_s) / (sum_s / kDraws), 1, 0.015);
    }
  }
}

// Nodes fail at random times from the start on, and stay away for a lognormal repair time.
TEST(WaitingTheory, MoreNodesThanSparesAreOutAsOftenAsCounted) {
  FailureClass failure_class;
  failure_class.rate_per_node_s = 1e-3;
  failure_class.repair = {.lognormal_median_s = 20, .lognormal_sigma = 1};
  constexpr double kLength_s = 60;
  RandomStream random(2, RandomPurpose::test, 0);
  constexpr int kRounds = 100000;
  int waiting = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double look_s = kLength_s * random.uniform();
    int out = 0;
    for (double at_s = random.exponential(100); at_s < look_s; at_s += random.exponential(100)) {
      out += at_s + draw_repair_s(failure_class.repair, random) > look_s;
    }
    waiting += out > 1;
  }
  const double share = expected_wait_s({failure_class}, 10, 1, kLength_s) / kLength_s;
  EXPECT_NEAR(double(waiting) / kRounds, share, 4 * std::sqrt(share / kRounds));
  EXPECT_GT(share, 0.01);
  EXPECT_EQ(expected_wait_s({}, 10, 1, kLength_s), 0);
}

}  // namespace
}  // namespace windtunnel
