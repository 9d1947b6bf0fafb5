#include "models/reliability/stragglers/worker_factors.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace windtunnel {
namespace {

TEST(WorkerFactors, AWorkerIsAsSlowAsItsSlowestUnit) {
  const Jitter jitter{.sigma = 0.2};
  const std::vector<std::vector<WorkerUnit>> units = {{{0, 1}, {1, 1.5}}, {{4, 1}}, {{4, 2}}};
  WorkerFactors factors(jitter, units, 3);
  std::vector<std::vector<double>> own(5, std::vector<double>(200));
  for (int unit = 0; unit < 5; ++unit) draw_factors(jitter, unit, 3, own[unit]);
  for (int round = 0; round < 200; ++round) {
    const std::span<const double> all = factors.next_round();
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0], std::max(own[0][round], 1.5 * own[1][round]));
    EXPECT_EQ(all[1], own[4][round]);
    EXPECT_EQ(all[2], 2 * own[4][round]);
  }
}

TEST(WorkerFactors, AlikeWorkersHaveUnitsOfTheirOwn) {
  const auto units = alike_workers(3, 2);
  ASSERT_EQ(units.size(), 3U);
  EXPECT_EQ(units[2][0].unit, 4);
  EXPECT_EQ(units[2][1].unit, 5);
  EXPECT_EQ(units[2][1].slowdown, 1);
}

}  // namespace
}  // namespace windtunnel
