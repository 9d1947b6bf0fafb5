#include "models/power/oversubscription.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

RowLoad training() {
  return {.limit_W = 5000,
          .base_W = 1500,
          .phases = {{.share = 0.8, .W = 4850}, {.share = 0.2, .W = 2500}}};
}

// Peaks of training coincide: the servers that fit are the limit over the peak, 3 % more at POLCA's
// 97 %.
TEST(Oversubscription, TrainingHasTheHeadroomOfItsPeak) {
  const RowReport fits = oversubscribed(training(), 40, 0.03);
  EXPECT_NEAR(fits.fitting, 5000 / 4850.0, 1e-12);
  EXPECT_EQ(fits.capped_share, 0);
  EXPECT_EQ(fits.slowdown, 1);
  const RowReport more = oversubscribed(training(), 40, 0.3);
  EXPECT_NEAR(more.capped_share, 0.8, 1e-12);
  const double clock = std::cbrt((5000 / 1.3 - 1500) / (4850 - 1500));
  EXPECT_NEAR(more.clock, clock, 1e-12);
  EXPECT_NEAR(more.slowdown, 0.8 / clock + 0.2, 1e-12);
}

// Clocks can lower power only so far, so that some additions exceed the limit.
TEST(Oversubscription, NoClockHoldsEverything) {
  EXPECT_TRUE(oversubscribed(training(), 40, 2.3).holds);
  EXPECT_FALSE(oversubscribed(training(), 40, 2.4).holds);
}

// POLCA: a row for inference peaks at 79 % of its planned power, and takes 30 % more servers with
// few and shallow caps. Its servers draw nearly the limit in the prompt phase and less in the token
// phase; these shares of time give a row of 40 servers that peak.
RowLoad inference() {
  return {.limit_W = 6500,
          .base_W = 1900,
          .phases = {{.share = 0.25, .W = 6300}, {.share = 0.75, .W = 4100, .by_clock = 0.2}},
          .aligned = false};
}

TEST(Oversubscription, InferenceTakesAThirdMoreAsPolcaSays) {
  const RowReport row = oversubscribed(inference(), 40, 0.3);
  EXPECT_NEAR(row.peak, 0.79, 0.03);
  EXPECT_NEAR(row.fitting, 1.284, 0.001);
  EXPECT_TRUE(row.holds);
  EXPECT_LT(row.capped_share, 0.05);
  EXPECT_LT(row.slowdown, 1.01);
  RowLoad in_step = inference();
  in_step.aligned = true;
  EXPECT_GT(oversubscribed(in_step, 40, 0.3).slowdown, row.slowdown + 0.02);
}

// The more servers are added, the more often they are capped, the lower the clock and the slower
// the work.
TEST(Oversubscription, IsMonotone) {
  for (int trial = 0; trial < 500; ++trial) {
    RandomStream random(3, RandomPurpose::test, trial);
    RowLoad load;
    load.base_W = 500 + 1000 * random.uniform();
    load.aligned = trial % 2 == 0;
    load.clock_power = 1 + 2.2 * random.uniform();
    const double share = random.uniform();
    const double low_W = load.base_W * (1 + random.uniform());
    load.phases = {{share, low_W + 5000 * random.uniform(), random.uniform()},
                   {1 - share, low_W, random.uniform()}};
    load.limit_W = load.base_W + 6000 * (0.1 + random.uniform());
    RowReport last = oversubscribed(load, 16, 0);
    for (double more = 0.1; more < 1; more += 0.1) {
      const RowReport now = oversubscribed(load, 16, more);
      if (!now.holds) break;
      if (load.aligned) {
        EXPECT_GE(now.capped_share, last.capped_share) << trial;
        EXPECT_LE(now.clock, last.clock) << trial;
        EXPECT_GE(now.slowdown, last.slowdown) << trial;
        EXPECT_EQ(now.capped_share > 0, 1 + more > now.fitting * (1 + 1e-12)) << trial;
      }
      EXPECT_LE(now.clock, 1);
      EXPECT_GE(now.slowdown, 1);
      last = now;
    }
  }
}

// Phases made from a power curve have the same energy.
TEST(Oversubscription, PhasesKeepTheEnergy) {
  const PowerCurve curve = {{0, 100}, {2, 400}, {3, 50}, {7, 80}};
  double mean_W = 0;
  double shares = 0;
  for (const LoadPhase& phase : phases_of(curve, 4, 1, 9)) {
    mean_W += phase.share * phase.W;
    shares += phase.share;
  }
  EXPECT_NEAR(shares, 1, 1e-12);
  EXPECT_NEAR(4 * mean_W, range_of(curve, 1, 9).mean_W, 1e-9);
}

}  // namespace
}  // namespace windtunnel
