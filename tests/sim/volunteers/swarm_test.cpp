#include "sim/volunteers/swarm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

// Equal peers, each with one micro-batch per second, serve equal stages.
Swarm equal_swarm(int peers, int stages) {
  Swarm swarm;
  swarm.first.assign(peers, 0);
  swarm.rates = {std::vector<double>(stages, 1)};
  swarm.takeover_s = {std::vector<double>(stages, 0)};
  swarm.length_s = 1000;
  return swarm;
}

AttendanceChange joins(double at_s, int kind = 0) {
  return {at_s, true, kind, 0};
}
AttendanceChange leaves(double at_s, int place) {
  return {at_s, false, 0, place};
}

TEST(Swarm, IsAsFastAsItsSlowestStage) {
  const SwarmTrial trial = run_swarm(equal_swarm(7, 3), {}, 0);
  EXPECT_DOUBLE_EQ(trial.done, 2 * 1000);  // stages have 3, 2 and 2 peers
  EXPECT_DOUBLE_EQ(trial.possible, trial.done);
  EXPECT_EQ(trial.peers, 7);
  EXPECT_EQ(trial.moves, 0);
}

// Peers 0, 2 and 4 serve stage 0. After two of them have left, a peer of stage 1 joins the
// remaining one.
TEST(Swarm, APeerGoesToTheStageThatLostMost) {
  const std::vector<AttendanceChange> changes = {leaves(100, 0), leaves(200, 4)};
  Swarm swarm = equal_swarm(6, 2);
  const SwarmTrial unmoved = run_swarm(swarm, changes, 0);
  EXPECT_DOUBLE_EQ(unmoved.done, 3 * 100 + 2 * 100 + 1 * 800);
  EXPECT_DOUBLE_EQ(unmoved.possible, 3 * 100 + 2 * 100 + 2 * 800);
  swarm.rebalance_s = 300;
  const SwarmTrial moved = run_swarm(swarm, changes, 0);
  EXPECT_EQ(moved.moves, 1);
  EXPECT_DOUBLE_EQ(moved.done, 300 + 200 + 1 * 100 + 2 * 700);
  EXPECT_DOUBLE_EQ(moved.possible, unmoved.possible);
  swarm.takeover_s = {{50, 50}};  // a moving peer serves no stage
  EXPECT_DOUBLE_EQ(run_swarm(swarm, changes, 0).done, 300 + 200 + 100 + 50 + 2 * 650);
}

TEST(Swarm, AJoinerTakesTheSlowestStage) {
  Swarm swarm = equal_swarm(5, 2);
  EXPECT_DOUBLE_EQ(run_swarm(swarm, std::vector{joins(500)}, 0).done, 2 * 500 + 3 * 500);
  swarm.takeover_s = {{100, 100}};
  EXPECT_DOUBLE_EQ(run_swarm(swarm, std::vector{joins(500)}, 0).done, 2 * 600 + 3 * 400);
}

TEST(Swarm, StallsWhileAStageHasNobody) {
  const std::vector<AttendanceChange> changes = {leaves(400, 1), joins(700)};
  const SwarmTrial trial = run_swarm(equal_swarm(2, 2), changes, 0);
  EXPECT_DOUBLE_EQ(trial.empty_s, 300);
  EXPECT_DOUBLE_EQ(trial.done, 700);
  EXPECT_DOUBLE_EQ(trial.possible, 700);  // one peer alone cannot serve two stages
}

// Tries all ways to assign peers to stages, and returns the best of their slowest stages' rates.
double best_rate(const Swarm& swarm, const std::vector<int>& kinds) {
  std::vector<double> stages(swarm.stages());
  double best = 0;
  const std::function<void(std::size_t)> place = [&](std::size_t next) {
    if (next == kinds.size()) {
      best = std::max(best, *std::ranges::min_element(stages));
      return;
    }
    for (int stage = 0; stage < swarm.stages(); ++stage) {
      stages[stage] += swarm.rates[kinds[next]][stage];
      place(next + 1);
      stages[stage] -= swarm.rates[kinds[next]][stage];
    }
  };
  place(0);
  return best;
}

TEST(Swarm, NoWayToDealPeersOutIsBetterWhereTheyAreAlike) {
  RandomStream random(1, RandomPurpose::test, 0);
  for (int round = 0; round < 100; ++round) {
    Swarm swarm = equal_swarm(0, 2 + static_cast<int>(random.below(2)));
    for (double& rate : swarm.rates[0]) rate = 0.2 + random.uniform();
    const int peers = static_cast<int>(random.below(8));
    EXPECT_NEAR(balanced_rate(swarm, {peers}), best_rate(swarm, std::vector<int>(peers, 0)), 1e-12);
  }
}

TEST(Swarm, UnlikePeersAreDealtOutNearlyAsWell) {
  RandomStream random(2, RandomPurpose::test, 0);
  double ratio = 0;
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    Swarm swarm = equal_swarm(0, 2);
    swarm.rates.resize(3);
    for (auto& rates : swarm.rates) rates.assign(2, 0.2 + random.uniform());
    const double best = best_rate(swarm, {0, 0, 0, 1, 1, 1, 2, 2});
    const double dealt = balanced_rate(swarm, {3, 3, 2});
    EXPECT_LE(dealt, best + 1e-12);
    EXPECT_GE(dealt, 0.7 * best);
    ratio += dealt / best / kRounds;
  }
  EXPECT_GT(ratio, 0.95);
}

Volunteers random_volunteers(RandomStream& random) {
  Volunteers volunteers;
  volunteers.length_s = 3600;
  for (int kind = 0; kind < 2; ++kind) {
    volunteers.peers.push_back({.name = std::string(1, static_cast<char>('a' + kind)),
                                .count = 4 + static_cast<int>(random.below(20)),
                                .speed = 0.5 + random.uniform(),
                                .up_Bps = 1e6 + 1e7 * random.uniform(),
                                .down_Bps = 1e6 + 1e7 * random.uniform(),
                                .leave_per_s = 1e-3 * random.uniform(),
                                .join_per_s = 1e-2 * random.uniform()});
  }
  volunteers.rebalance_s = 10 + 100 * random.uniform();
  if (random.below(2) == 0) volunteers.joiners = Joiners::random;
  return volunteers;
}

// No trial does more than is possible, moves lose nothing on average, and a repeated trial gives
// the same numbers.
TEST(Swarm, MovesHelpAndNothingBeatsTheOptimum) {
  RandomStream random(3, RandomPurpose::test, 0);
  double moved = 0;
  double unmoved = 0;
  for (int round = 0; round < 200; ++round) {
    Volunteers volunteers = random_volunteers(random);
    volunteers.move_s = round % 2 == 0 ? 0 : 20;
    std::vector<StageWork> works(2 + random.below(5));
    for (StageWork& work : works) {
      work = {.compute_s = 0.1 + random.uniform(), .bytes = 1e6 * random.uniform(), .messages = 2};
    }
    Swarm swarm = swarm_of(volunteers, works);
    const std::vector<AttendanceChange> changes = attendance_changes(volunteers, round);
    const SwarmTrial own = run_swarm(swarm, changes, round);
    EXPECT_LE(own.done, own.possible * (1 + 1e-12));
    EXPECT_EQ(own.done, run_swarm(swarm, changes, round).done);
    swarm.rebalance_s = 0;
    const SwarmTrial still = run_swarm(swarm, changes, round);
    EXPECT_EQ(still.moves, 0);
    EXPECT_NEAR(still.peers, own.peers, 1e-9 * own.peers);
    moved += own.done_share();
    unmoved += still.done_share();
  }
  EXPECT_GT(moved, unmoved * 1.02);
}

}  // namespace
}  // namespace windtunnel
