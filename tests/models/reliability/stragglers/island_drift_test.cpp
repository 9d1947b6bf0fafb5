#include "models/reliability/stragglers/island_drift.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "models/machine/order_statistics.hpp"

namespace windtunnel {
namespace {

const Jitter kLaws[] = {{.sigma = 0.2},
                        {.exponential = 0.2},
                        {.sigma = 0.1, .memory = 0.8},
                        {.share = 0.02, .slowdown = 2},
                        {.bursts = {.good = 50, .bad = 10, .slowdown = 2}}};

// Returns how much longer a period takes than the islands' mean, for one level without slack: sums
// are normal, so that the k-th of n islands is expected at the k-th of n normal values. The mean
// over all islands is the same whether a late one is waited for or stops.
double normal_wait(const Jitter& jitter, double units, const DriftLevel& level) {
  const double deviation = std::sqrt(level.steps * island_step(jitter, units).long_variance);
  return deviation * expected_normal_order(level.groups, level.groups - level.missing);
}

// With one step per period islands wait for the slowest, as a synchronous job does in every step.
TEST(IslandDrift, OfOneStepIsThatOfDataParallelism) {
  for (const Jitter& jitter : kLaws) {
    const IslandDrift drift = sample_drift(jitter, {.units = 4}, {{.steps = 1, .groups = 8}});
    EXPECT_NEAR(drift.step, expected_factor(jitter, 4, 4), 1e-9);
    const double all = expected_factor(jitter, 32, 32);
    EXPECT_NEAR(drift.step + drift.wait.at(0), all, 0.03 * all);
  }
}

TEST(IslandDrift, OfManyStepsIsThatOfNormalSums) {
  for (const Jitter& jitter : kLaws) {
    for (const int missing : {0, 2}) {
      const DriftLevel level{.steps = 1600, .groups = 8, .missing = missing};
      const IslandDrift sampled = sample_drift(jitter, {.units = 1}, {level});
      const double expected = normal_wait(jitter, 1, level);
      EXPECT_NEAR(sampled.wait[0] - sampled.saved[0], expected, 0.1 * expected) << missing;
      // Sums of two-state factors may be equal, so that no island is late.
      EXPECT_LE(sampled.late[0], missing / 8.0);
      EXPECT_GE(sampled.late[0], 0.85 * missing / 8);
    }
  }
}

TEST(IslandDrift, SumsOfManyStepsAreDrawnAsOne) {
  const DriftLevel level{.steps = 1e5, .groups = 8};
  const Jitter jitter{.sigma = 0.2};
  const IslandDrift sampled = sample_drift(jitter, {.units = 64}, {level});
  const double expected = normal_wait(jitter, 64, level);
  EXPECT_NEAR(sampled.wait[0], expected, 0.05 * expected);
}

// With gossip an island waits only for its neighbours: less in a ring than in a denser graph, and
// for all if all are neighbours. Two islands with one step wait for the slower of two.
TEST(IslandDrift, GossipWaitsForNeighbours) {
  const Jitter jitter{.sigma = 0.2};
  const auto wait = [&](GossipSenders gossip) {
    return sample_drift(jitter, {.units = 1},
                        {{.steps = 10, .groups = 16, .gossip = std::move(gossip)}})
        .wait[0];
  };
  const double all = wait({});
  const double one = wait({.distances = {1}});
  const double ring = wait({.distances = {1, 15}, .at_once = 2});
  const double exponential = wait({.distances = {1, 2, 4, 8}, .at_once = 4});
  const double random = wait({.distances = {1, 2, 3, 4, 5}, .random = true});
  EXPECT_LT(0, one);
  EXPECT_LT(one, ring);
  EXPECT_LT(ring, exponential);
  EXPECT_LT(exponential, all);
  EXPECT_LT(random, ring);
  std::vector<int> everybody(15);
  std::iota(everybody.begin(), everybody.end(), 1);
  EXPECT_DOUBLE_EQ(wait({.distances = everybody, .at_once = 15}), all);
}

// If factors hold for the whole run, the distance between islands grows linearly with the steps.
TEST(IslandDrift, OfMachinesThatStayAsTheyAreGrowsWithTheSteps) {
  const Jitter jitter{.sigma = 0.1, .per = JitterPer::run};
  const double apart = expected_factor(jitter, 8, 8) - 1;
  for (const double steps : {1.0, 100.0, 5000.0}) {
    const IslandDrift drift = sample_drift(jitter, {.units = 1}, {{.steps = steps, .groups = 8}});
    EXPECT_NEAR(drift.wait[0] / steps, apart, 0.05 * apart) << steps;
  }
}

// Without a variance sums are never normal. By the principle of a single big jump, the largest of 4
// means over many steps is the mean plus the share in it of the largest of all draws.
TEST(IslandDrift, SumsWithoutAVarianceAreDrawn) {
  const Jitter jitter{.pareto = 1.5};
  const double steps = 20000;
  const IslandDrift drift = sample_drift(jitter, {.units = 1}, {{.steps = steps, .groups = 4}});
  const double jump = expected_pareto_order(4 * steps, 4 * steps, 1.5) / steps;
  EXPECT_GT(drift.wait[0] / steps, 0.3 * jump);
  EXPECT_LT(drift.wait[0] / steps, 1.5 * jump);
}

// A rarely late island loses its period, and the other islands finish it in less time.
TEST(IslandDrift, LateOnesStop) {
  const Jitter jitter{.share = 0.001, .slowdown = 500};
  const IslandDrift drift =
      sample_drift(jitter, {.units = 1}, {{.steps = 20, .groups = 4, .missing = 1, .slack = 2}});
  const double slow = 1 - std::pow(0.999, 20);  // P(an island is slow in a period)
  EXPECT_NEAR(drift.late[0], slow, 0.15 * slow);
  EXPECT_NEAR(drift.saved[0], drift.late[0] * 499, 0.05 * drift.late[0] * 499);
  // Waiting requires that two of the four islands are slow at once.
  EXPECT_LT(drift.wait[0], 500 * 6 * slow * slow);
}

// The wait grows with the square root of the number of steps, in data parallelism linearly.
TEST(IslandDrift, IsLessThanTheSumOfMaxima) {
  for (const Jitter& jitter : kLaws) {
    const double per_step = expected_factor(jitter, 8, 8) - expected_factor(jitter, 1, 1);
    double last = per_step;
    for (const double steps : {10.0, 100.0, 500.0}) {
      const IslandDrift drift = sample_drift(jitter, {.units = 1}, {{.steps = steps, .groups = 8}});
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
        sample_drift(jitter, {.units = 1}, {{.steps = 100, .groups = 8, .slack = slack}});
    EXPECT_LT(drift.wait[0], last) << slack;
    last = drift.wait[0];
  }
}

// Islands form regions: the outer wait is added to the inner ones.
TEST(IslandDrift, LevelsStandAboveOneAnother) {
  const Jitter jitter{.sigma = 0.2};
  const IslandDrift nested =
      sample_drift(jitter, {.units = 1}, {{.steps = 20, .groups = 4}, {.steps = 200, .groups = 4}});
  const IslandDrift inner = sample_drift(jitter, {.units = 1}, {{.steps = 20, .groups = 4}});
  EXPECT_NEAR(nested.wait[0], inner.wait[0], 0.05 * inner.wait[0]);
  EXPECT_GT(nested.wait[1], 0);
  const IslandDrift flat = sample_drift(jitter, {.units = 1}, {{.steps = 200, .groups = 16}});
  // Regions have already waited inside at every inner exchange, so that less is left to wait for
  // than with 16 separate islands.
  EXPECT_LT(nested.wait[1], flat.wait[0]);
}

TEST(IslandDrift, WithoutStragglersThereIsNone) {
  const IslandDrift drift =
      sample_drift({}, {.units = 4}, {{.steps = 50, .groups = 8, .missing = 2}});
  EXPECT_EQ(drift.step, 1);
  EXPECT_EQ(drift.wait[0], 0);
  EXPECT_EQ(drift.late[0], 0);
  EXPECT_EQ(drift.saved[0], 0);
}

// Three islands always take 1 s and one takes 2 s. Either all wait for the slow one, or it is
// always late, stops when the others have finished, and its work is lost.
TEST(IslandDrift, ASlowIslandIsWaitedForOrAlwaysLate) {
  const std::vector<IslandStep> islands = {{1}, {2}, {1}, {1}};
  IslandDrift drift = sample_drift(islands, 0, {{.steps = 10, .groups = 4}});
  EXPECT_DOUBLE_EQ(drift.step, 1.25);
  EXPECT_DOUBLE_EQ(drift.wait[0], 3 * 10 / 4.0);
  EXPECT_EQ(drift.late[0], 0);
  drift = sample_drift(islands, 0, {{.steps = 10, .groups = 4, .missing = 1}});
  EXPECT_EQ(drift.wait[0], 0);
  EXPECT_DOUBLE_EQ(drift.late[0], 0.25);
  EXPECT_DOUBLE_EQ(drift.saved[0], 10 / 4.0);
}

// For steps with a mean and a variance, the wait is for the largest of normal sums.
TEST(IslandDrift, UnlikeStepsAreNormalSums) {
  const std::vector<IslandStep> islands(8, {3, 0.25, 0.25});
  const IslandDrift drift = sample_drift(islands, 1, {{.steps = 100, .groups = 8}});
  EXPECT_DOUBLE_EQ(drift.step, 3);
  const double expected = std::sqrt(100 * 0.25) * expected_normal_order(8, 8);
  EXPECT_NEAR(drift.wait[0], expected, 0.03 * expected);
}

}  // namespace
}  // namespace windtunnel
