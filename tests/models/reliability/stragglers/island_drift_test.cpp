#include "models/reliability/stragglers/island_drift.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace windtunnel {
namespace {

const Jitter kLaws[] = {{.sigma = 0.2},
                        {.exponential = 0.2},
                        {.sigma = 0.1, .memory = 0.8},
                        {.share = 0.02, .slowdown = 2},
                        {.bursts = {.good = 50, .bad = 10, .slowdown = 2}}};

// One step is the largest of all: what one synchronous job pays in every step.
TEST(IslandDrift, OfOneStepIsThatOfDataParallelism) {
  for (const Jitter& jitter : kLaws) {
    const IslandDrift drift = sample_drift(jitter, 4, {{.steps = 1, .groups = 8}});
    EXPECT_NEAR(drift.step, expected_factor(jitter, 4, 4), 1e-9);
    const double all = expected_factor(jitter, 32, 32);
    EXPECT_NEAR(drift.step + drift.wait.at(0), all, 0.03 * all);
  }
}

TEST(IslandDrift, OfManyStepsIsThatOfNormalSums) {
  for (const Jitter& jitter : kLaws) {
    for (const int missing : {0, 2}) {
      const DriftLevel level{.steps = 1600, .groups = 8, .missing = missing};
      const IslandDrift sampled = sample_drift(jitter, 1, {level});
      const IslandDrift expected = expected_drift(jitter, 1, level);
      const double net = sampled.wait[0] - sampled.given_up[0];
      EXPECT_NEAR(net, expected.wait[0], 0.1 * expected.wait[0]) << missing;
      EXPECT_EQ(sampled.given_up[0] > 0, missing > 0);
    }
  }
}

TEST(IslandDrift, SumsOfManyStepsAreDrawnAsOne) {
  const DriftLevel level{.steps = 1e5, .groups = 8};
  const Jitter jitter{.sigma = 0.2};
  const IslandDrift sampled = sample_drift(jitter, 64, {level});
  const IslandDrift expected = expected_drift(jitter, 64, level);
  EXPECT_NEAR(sampled.wait[0], expected.wait[0], 0.05 * expected.wait[0]);
}

// The wait grows by the root of the steps, what data parallelism waits for by their number.
TEST(IslandDrift, IsLessThanTheSumOfMaxima) {
  for (const Jitter& jitter : kLaws) {
    const double per_step = expected_factor(jitter, 8, 8) - expected_factor(jitter, 1, 1);
    double last = per_step;
    for (const double steps : {10.0, 100.0, 500.0}) {
      const IslandDrift drift = sample_drift(jitter, 1, {{.steps = steps, .groups = 8}});
      EXPECT_LT(drift.wait[0] / steps, last);
      last = drift.wait[0] / steps;
    }
  }
}

TEST(IslandDrift, SlackHidesIt) {
  const Jitter jitter{.sigma = 0.2};
  double last = 1e9;
  for (const double slack : {0.0, 1.0, 4.0, 16.0}) {
    const IslandDrift drift =
        sample_drift(jitter, 1, {{.steps = 100, .groups = 8, .slack = slack}});
    EXPECT_LT(drift.wait[0], last) << slack;
    last = drift.wait[0];
  }
}

// Islands of a region, then regions: an outer wait on top of inner ones.
TEST(IslandDrift, LevelsStandAboveOneAnother) {
  const Jitter jitter{.sigma = 0.2};
  const IslandDrift nested =
      sample_drift(jitter, 1, {{.steps = 20, .groups = 4}, {.steps = 200, .groups = 4}});
  const IslandDrift inner = sample_drift(jitter, 1, {{.steps = 20, .groups = 4}});
  EXPECT_NEAR(nested.wait[0], inner.wait[0], 0.05 * inner.wait[0]);
  EXPECT_GT(nested.wait[1], 0);
  const IslandDrift flat = sample_drift(jitter, 1, {{.steps = 200, .groups = 16}});
  // Every so often the region has waited already: less is left than for 16 islands on their own.
  EXPECT_LT(nested.wait[1], flat.wait[0]);
}

TEST(IslandDrift, WithoutStragglersThereIsNone) {
  const IslandDrift drift = sample_drift({}, 4, {{.steps = 50, .groups = 8, .missing = 2}});
  EXPECT_EQ(drift.step, 1);
  EXPECT_EQ(drift.wait[0], 0);
  EXPECT_EQ(drift.given_up[0], 0);
}

}  // namespace
}  // namespace windtunnel
