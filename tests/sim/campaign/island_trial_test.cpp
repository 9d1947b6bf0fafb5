// Islands fail on their own. Tests compare with accounts worked out by hand and expectations in
// closed form, and check properties of every campaign.
#include "sim/campaign/island_trial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/base/random.hpp"
#include "sim/campaign/trial.hpp"
#include "tests/sim/campaign/by_hand.hpp"
#include "tests/sim/campaign/random_campaign.hpp"

namespace windtunnel {
namespace {

using by_hand::traced;

// Each of the `islands` has one node; steps take 10 s, and an exchange every 10 steps takes no
// time.
CampaignInputs islands_of(int islands, double length_s) {
  CampaignInputs inputs;
  inputs.nodes = islands;
  inputs.table.iteration_s = {10};
  inputs.recovery = {.detect_s = 5, .restart_s = 15};
  inputs.campaign = {length_s, 1, 1};
  inputs.table.islands.count = islands;
  inputs.table.islands.of_node.resize(islands);
  std::iota(inputs.table.islands.of_node.begin(), inputs.table.islands.of_node.end(), 0);
  inputs.table.islands.levels = {{islands, 10, 0, 0, 0, 7}};
  return inputs;
}

// Runs the trial as islands even if there is only one; run_trial() runs one island as a plain job.
TrialResult as_islands(const CampaignInputs& inputs, int trial = 0) {
  const CampaignInputs counted = counted_in_steps(inputs);
  const CampaignPlan plan(counted);
  return IslandTrial(plan, trial).run();
}

double lost_s(const TrialResult& result, Loss loss) {
  return result.lost_s[static_cast<int>(loss)];
}

TEST(IslandTrial, PausesAreThoseOfEachIsland) {
  CampaignInputs inputs = islands_of(2, 21 * 10 + 4 * 3);
  inputs.table.pauses.evaluation = {.every_iterations = 5, .takes_s = 3};
  const TrialResult result = as_islands(inputs);
  EXPECT_EQ(result.iterations, 21);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::evaluate), 12);
  EXPECT_DOUBLE_EQ(result.useful_s, 210);
}

// Island 1 of 2 fails in its 13th step, at 125 s, and streams the weights of the exchange at 100 s:
// 2 steps and 5 s are lost. It is back at 125 + 5 + 15 + 7 = 152 s and comes to the next exchange
// at 252 s, for which the other has waited since 200 s.
TEST(IslandTrial, LostIslandRedoesItsOwnStepsAndTheOthersWait) {
  CampaignInputs inputs = islands_of(2, 252 + 100);
  inputs.failures = {traced(FailureKind::process, {125}, {1})};
  const TrialResult result = as_islands(inputs);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::detect), 5 / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::restart), (15 + 7) / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::redo), (20 + 5) / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::sync), 52 / 2.0);
  EXPECT_DOUBLE_EQ(result.useful_s, 300);
  EXPECT_EQ(result.iterations, 30);
  EXPECT_EQ(result.count(CampaignCount::islands_lost), 1);
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{0, 1}));
}

// In the same failure there is a copy of step 12, 5 s old: half a step is lost, and the island is
// 25 s + 3 s for the load late at the exchange.
TEST(IslandTrial, OwnCopyIsTakenWhereItIsNewer) {
  CampaignInputs inputs = islands_of(2, 233 + 100);
  inputs.failures = {traced(FailureKind::process, {125}, {1})};
  const SnapshotTier host{
      .place = SnapshotPlace::host_memory, .every_iterations = 4, .keeper_process = true};
  inputs.table.tiers = {{host, 4, 3}};
  inputs.table.iteration_s = {10, 10};
  const TrialResult result = as_islands(inputs);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::redo), 5 / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::sync), (5 + 5 + 15 + 3) / 2.0);
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{1, 0, 0}));
}

// State that no other island has (dense) comes from the island's own copy of step 9, however old.
// The island restarts at 148 s, does 3 steps again and is 58 s late at the exchange. Without a copy
// it begins with step 0 at 145 s.
TEST(IslandTrial, PartsOfItsOwnComeFromItsOwnCopy) {
  CampaignInputs inputs = islands_of(2, 258 + 100);
  inputs.failures = {traced(FailureKind::process, {125}, {1})};
  inputs.table.islands.own_parts = true;
  const SnapshotTier host{
      .place = SnapshotPlace::host_memory, .every_iterations = 9, .keeper_process = true};
  inputs.table.tiers = {{host, 4, 3}};
  inputs.table.iteration_s = {10, 10};
  TrialResult result = as_islands(inputs);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::restart), (15 + 3) / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::redo), (30 + 5) / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::sync), 58 / 2.0);
  EXPECT_DOUBLE_EQ(result.useful_s, 300);
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{1, 0, 0}));
  inputs.table.tiers.clear();
  inputs.table.iteration_s = {10};
  inputs.campaign.length_s = 345 + 100;
  result = as_islands(inputs);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::restart), 15 / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::redo), (120 + 5) / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::sync), 145 / 2.0);
  EXPECT_DOUBLE_EQ(result.useful_s, 300);
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{1, 0}));
}

// Islands have two nodes, and one island continues with one node, at 15 s a step. It fails at 125
// s, begins again with step 10 at 152 s, and comes to the exchanges at 302 and 452 s; the other has
// waited since 200 and 402 s.
TEST(IslandTrial, AnIslandGoesOnInAnotherLayout) {
  CampaignInputs inputs = islands_of(2, 452);
  inputs.nodes = 4;
  inputs.table.islands.of_node = {0, 0, 1, 1};
  inputs.table.islands.smaller_pace = {1.5};
  inputs.recovery.when_no_spare = WhenNoSpare::relayout;
  inputs.failures = {traced(FailureKind::node, {125}, {2})};
  inputs.failures[0].repair.fixed_s = 1e6;
  TrialResult result = as_islands(inputs);
  EXPECT_DOUBLE_EQ(result.useful_s, 300);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::degraded), 20 * 5 / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::redo), (20 + 5) / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::restart), (15 + 7) / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::sync), (102 + 50) / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::wait), 0);
  // The node is back at 330 s: a step of 15 s and 13 s of the next are lost, and the island begins
  // with step 20 at 352 s, with all of its nodes.
  inputs.failures[0].repair.fixed_s = 205;
  result = as_islands(inputs);
  EXPECT_DOUBLE_EQ(result.useful_s, 300);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::degraded), 11 * 5 / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::redo), (20 + 5 + 10 + 13) / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::restart), 2 * (15 + 7) / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::sync), (102 + 50) / 2.0);
}

// The island of the test above exchanges nothing, so it loads its own copy of step 8, made in the
// full layout. Loading takes 3 s, converting 40 s, and a restart 15 s.
TEST(IslandTrial, ACopyOfAnotherLayoutIsConverted) {
  CampaignInputs inputs = islands_of(2, 600);
  inputs.nodes = 4;
  inputs.table.islands.of_node = {0, 0, 1, 1};
  inputs.table.islands.smaller_pace = {1.5};
  inputs.table.islands.levels[0].cycle_steps = 1e15;
  inputs.table.tiers = {{{.every_iterations = 8}, 10, 3}};
  inputs.table.tiers[0].reshape_s = 11;  // applies to fewer replicas; an island has one
  inputs.table.tiers[0].convert_s = 40;
  inputs.table.iteration_s = {10, 10};
  inputs.recovery.when_no_spare = WhenNoSpare::relayout;
  FailureClass lost = traced(FailureKind::node, {125}, {2});
  lost.repair.fixed_s = 1e6;
  const auto restart_s = [&](const std::vector<FailureClass>& others) {
    inputs.failures = {lost};
    inputs.failures.insert(inputs.failures.end(), others.begin(), others.end());
    return 2 * lost_s(as_islands(inputs), Loss::restart);
  };
  const auto again = [](FailureKind kind, double at_s, double repair_s) {
    FailureClass result = traced(kind, {at_s}, {3});
    result.repair.fixed_s = repair_s;
    return std::vector{result};
  };
  EXPECT_DOUBLE_EQ(restart_s({}), 15 + 3 + 40);
  // The island's link is down from 126 to 186 s, so the restart is tried twice.
  EXPECT_DOUBLE_EQ(restart_s(again(FailureKind::network, 126, 60)), 15 + 3 + 40);
  // The island fails once more at 140 s, while it restarts since 130 s.
  EXPECT_DOUBLE_EQ(restart_s(again(FailureKind::process, 140, 0)), 10 + 15 + 3 + 40);
  // The island trains from 188 s on, and takes a copy in its own layout at 308 s.
  EXPECT_DOUBLE_EQ(restart_s(again(FailureKind::process, 200, 0)), 2 * (15 + 3 + 40));
  EXPECT_DOUBLE_EQ(restart_s(again(FailureKind::process, 330, 0)), (15 + 3 + 40) + (15 + 3));
  // The island's last node is lost and back after 100 s: the copy has the layout that the island
  // had.
  EXPECT_DOUBLE_EQ(restart_s(again(FailureKind::node, 330, 100)), (15 + 3 + 40) + (15 + 3));
}

// Each half of the model has two modules, and each of four islands trains one of either half;
// island 1 shares its modules with islands 0 and 3. If both train, a failure costs as much as if
// all islands had equal modules. If one of them is down at the same time, island 1 needs a copy of
// its own, and there is none.
TEST(IslandTrial, ModulesComeFromIslandsThatHaveThem) {
  CampaignInputs inputs = islands_of(4, 252 + 100);
  inputs.failures = {traced(FailureKind::process, {125}, {1})};
  const TrialResult alike = as_islands(inputs);
  inputs.table.islands.far_modules = 2;
  EXPECT_EQ(as_islands(inputs), alike);
  EXPECT_EQ(alike.restored_from, (std::vector<std::int64_t>{0, 1}));
  inputs.failures = {traced(FailureKind::process, {124, 125}, {3, 1})};
  inputs.failures[0].detect_s = 5;
  TrialResult result = as_islands(inputs);
  // Island 3 may ask island 2, but the other island that it needs, 1, is down: both start from the
  // beginning.
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{1, 1}))
      << "the second one gets its modules from the first, which trains again";
  inputs.table.islands.far_modules = 0;
  EXPECT_EQ(as_islands(inputs).restored_from, (std::vector<std::int64_t>{0, 2}));
}

// Island 1 gets a notice at 125 s: it gives up half a step, saves for 8 s, restarts and loads. It
// is back at 151 s with step 12 and comes to the exchange 31 s late. With a notice of 5 s it trains
// until 130 s and begins again with the exchange at 100 s.
TEST(IslandTrial, IslandWithANoticeSaves) {
  CampaignInputs inputs = islands_of(2, 231 + 100);
  inputs.recovery.spares = 1;
  inputs.table.tiers = {{{.every_iterations = 1000}, 8, 3}};
  inputs.table.iteration_s = {10, 10};
  inputs.failures = {traced(FailureKind::node, {125}, {1})};
  inputs.failures[0].notice_s = 60;
  TrialResult result = as_islands(inputs);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::redo), 5 / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::stall), 8 / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::detect), 0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::restart), (15 + 3) / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::sync), 31 / 2.0);
  EXPECT_DOUBLE_EQ(result.useful_s, 300);
  EXPECT_EQ(result.count(CampaignCount::islands_lost), 0);
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{0, 0, 0}));
  inputs.failures[0].notice_s = 5;
  inputs.campaign.length_s = 252 + 100;
  result = as_islands(inputs);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::redo), 30 / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::stall), 0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::restart), (15 + 7) / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::sync), 52 / 2.0);
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{0, 0, 1}));
  EXPECT_EQ(result.count(CampaignCount::islands_lost), 1);
}

// A delay of five steps hides 50 s of lateness, less the 20 s of the exchange.
TEST(IslandTrial, DelayHidesLateness) {
  CampaignInputs inputs = islands_of(2, 1000);
  inputs.table.islands.levels[0].delay_steps = 5;
  inputs.table.islands.levels[0].exchange_s = 20;
  inputs.failures = {traced(FailureKind::process, {125}, {1})};
  // Before the first exchange ends, at 120 s, the island has only the initial state.
  EXPECT_DOUBLE_EQ(lost_s(as_islands(inputs), Loss::sync), (52 - 30) / 2.0);
  inputs.failures = {traced(FailureKind::process, {119}, {1})};
  EXPECT_DOUBLE_EQ(lost_s(as_islands(inputs), Loss::redo), 119 / 2.0);
}

// Islands that exchange nothing, or have not yet done so, get no state from others and spend no
// time on streaming it. An island with a copy of its own loads that.
TEST(IslandTrial, NothingComesFromOthersBeforeAnExchange) {
  CampaignInputs never = islands_of(2, 400);
  never.table.islands.levels[0].cycle_steps = 1e15;
  never.failures = {traced(FailureKind::process, {125}, {1})};
  EXPECT_EQ(as_islands(never).restored_from, (std::vector<std::int64_t>{1, 0}));
  EXPECT_DOUBLE_EQ(lost_s(as_islands(never), Loss::restart), 15 / 2.0);
  EXPECT_DOUBLE_EQ(lost_s(as_islands(never), Loss::redo), 125 / 2.0);
  CampaignInputs early = islands_of(2, 400);
  early.failures = {traced(FailureKind::process, {95}, {1})};
  EXPECT_EQ(as_islands(early).restored_from, (std::vector<std::int64_t>{1, 0}));
  EXPECT_DOUBLE_EQ(lost_s(as_islands(early), Loss::restart), 15 / 2.0);
  never.table.tiers = {{{.every_iterations = 8}, 10, 3}};
  never.table.iteration_s = {10, 10};
  EXPECT_EQ(as_islands(never).restored_from, (std::vector<std::int64_t>{1, 0, 0}));
  EXPECT_DOUBLE_EQ(lost_s(as_islands(never), Loss::redo), 45 / 2.0);
}

// An exchange may miss one island: the others continue at 200 s, and the lost one, back at 152 s,
// trains in vain until then. Its part of ten steps is missing.
TEST(IslandTrial, OthersGoOnWithoutIt) {
  CampaignInputs inputs = islands_of(4, 400);
  inputs.table.islands.levels[0].missing = 1;
  inputs.failures = {traced(FailureKind::process, {125}, {1})};
  const TrialResult result = as_islands(inputs);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::sync), 0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::redo), (25 + 48) / 4.0);
  EXPECT_DOUBLE_EQ(result.useful_s, (3 * 400 + 300) / 4.0);
}

// Without a spare the island drops out, and no island waits for it. Its node is back 500 s later;
// it streams what was exchanged at 600 s while the others train, and joins them at 700 s.
TEST(IslandTrial, IslandDropsOutAndJoinsAgain) {
  CampaignInputs inputs = islands_of(4, 1000);
  inputs.recovery.when_no_spare = WhenNoSpare::shrink;
  inputs.failures = {traced(FailureKind::node, {125}, {1})};
  inputs.failures[0].repair.fixed_s = 500;
  const TrialResult result = as_islands(inputs);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::sync), 0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::wait), 495 / 4.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::restart), 22 / 4.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::redo), (25 + 53) / 4.0);
  EXPECT_DOUBLE_EQ(result.useful_s, (3 * 1000 + 100 + 300) / 4.0);
  // If the lost island waits for its node, all islands wait for it.
  inputs.recovery.when_no_spare = WhenNoSpare::wait;
  EXPECT_DOUBLE_EQ(lost_s(as_islands(inputs), Loss::sync), 3 * (647 + 100 - 200) / 4.0);
}

// There are two regions of two islands: the region of the lost island waits at the inner exchange,
// the other region at the outer one.
TEST(IslandTrial, RegionWaitsForItsIsland) {
  CampaignInputs inputs = islands_of(4, 300);
  inputs.table.islands.levels = {{2, 10, 0, 0, 0, 7}, {4, 20, 0, 0, 0, 9}};
  inputs.failures = {traced(FailureKind::process, {55}, {0})};
  // The island is back at 75 s, as there is nothing to stream yet. It comes to step 10 at 175 s,
  // where island 1 has waited since 100 s, and to step 20 at 275 s, where the others have waited
  // since 200 s.
  const TrialResult result = as_islands(inputs);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::sync), (75 + 75 + 75) / 4.0);
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::restart), 15 / 4.0);
  // If both islands of a region fail, only the outer exchange is left, which the other region
  // holds.
  inputs.failures = {traced(FailureKind::process, {155, 155}, {0, 1})};
  EXPECT_DOUBLE_EQ(lost_s(as_islands(inputs), Loss::redo), 2 * 155 / 4.0);
}

// All islands fail at once: none holds the exchanged weights, and only copies in storage remain;
// the newest, of step 24, was complete at 250 s.
TEST(IslandTrial, WithAllIslandsTheirCopiesAreLeft) {
  CampaignInputs inputs = islands_of(2, 500);
  inputs.table.tiers = {{{.every_iterations = 8}, 10, 3}};
  inputs.table.iteration_s = {10, 10};
  inputs.failures = {traced(FailureKind::process, {255, 255}, {0, 1})};
  const TrialResult result = as_islands(inputs);
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{2, 0, 0}));
  EXPECT_DOUBLE_EQ(lost_s(result, Loss::redo), 15);
  // Without copies all islands start from the beginning.
  inputs.table.tiers.clear();
  inputs.table.iteration_s = {10};
  EXPECT_EQ(as_islands(inputs).restored_from, (std::vector<std::int64_t>{2, 0}));
  EXPECT_DOUBLE_EQ(lost_s(as_islands(inputs), Loss::redo), 255);
}

// --- theory

// In each of many rounds one island fails once, at a uniform time x of the round; it goes back to
// the last exchange. The island comes D + x late, and all wait for it. So a failure costs the job D
// + R / 2 on average, as much as if the job were a single island.
//
// With several failures per round, the round is as long as that of the latest island: with p the
// chance of each of P islands to fail (once), E max = sum over k of the binomial law times (D + R k
// / (k + 1)), where R k / (k + 1) is the expectation of the largest of k uniform times.
TEST(IslandTheory, RoundTakesTheExpectationOfTheLatestIsland) {
  constexpr int kIslands = 8;
  constexpr double kRound_s = 100;
  constexpr double kDown_s = 5 + 15 + 7;
  constexpr int kRounds = 40000;
  constexpr double kChance = 0.2;
  RandomStream random(1, RandomPurpose::test, 0);
  CampaignInputs inputs = islands_of(kIslands, 1e9);
  FailureClass failures = traced(FailureKind::process, {});
  double begin_s = 0;
  std::vector<std::pair<double, int>> struck;
  for (int round = 0; round < kRounds; ++round) {
    double latest_s = 0;
    for (int island = 0; island < kIslands; ++island) {
      if (random.uniform() >= kChance) continue;
      const double after_s = random.uniform() * kRound_s;
      struck.emplace_back(begin_s + after_s, island);
      latest_s = std::max(latest_s, after_s + kDown_s);
    }
    begin_s += kRound_s + latest_s;
  }
  std::ranges::sort(struck);
  for (const auto& [at_s, island] : struck) {
    failures.trace_s.push_back(at_s);
    failures.trace_nodes.push_back(island);
  }
  inputs.failures = {failures};
  inputs.campaign.length_s = begin_s;
  const TrialResult result = as_islands(inputs);
  // Rounds were laid out for the islands' failures above, each as long as the latest island's.
  EXPECT_NEAR(static_cast<double>(result.iterations), 10.0 * kRounds, 10);
  double expected_s = kRound_s;
  for (int k = 1; k <= kIslands; ++k) {
    const double ways =
        std::exp(std::lgamma(kIslands + 1) - std::lgamma(k + 1) - std::lgamma(kIslands - k + 1));
    const double law = ways * std::pow(kChance, k) * std::pow(1 - kChance, kIslands - k);
    expected_s += law * (kDown_s + kRound_s * k / (k + 1));
  }
  EXPECT_NEAR(begin_s / kRounds / expected_s, 1, 5e-3);
  // An island's failures account for its part of this; the rest is waiting for other islands.
  const double failed = static_cast<double>(struck.size()) / kRounds / kIslands;
  const double own_s = failed * (kDown_s + kRound_s / 2);
  EXPECT_NEAR(lost_s(result, Loss::sync) / kRounds / (expected_s - kRound_s - own_s), 1, 2e-2);
}

// Islands that never exchange do not notice each other's failures: each failure costs 1 / P of what
// it costs a job that is a single island.
TEST(IslandTheory, IsolatedIslandsLoseTheirShare) {
  CampaignInputs inputs = islands_of(8, 100000);
  inputs.table.tiers = {{{.every_iterations = 20}, 10, 3}};
  inputs.table.iteration_s = {10, 12};
  inputs.table.islands.levels[0].cycle_steps = 1e9;
  inputs.failures = {traced(FailureKind::process, {5000, 20000, 40000, 71000}, {1, 3, 3, 7})};
  const TrialResult islands = as_islands(inputs);
  inputs.table.islands = {};
  const TrialResult one = run_trial(inputs, 0, CampaignMode::replay);
  EXPECT_EQ(lost_s(islands, Loss::sync), 0);
  for (const Loss loss : {Loss::detect, Loss::restart, Loss::redo}) {
    // No island's failure delays the next one, so the lost part of an iteration differs.
    EXPECT_NEAR(lost_s(islands, loss), lost_s(one, loss) / 8, loss == Loss::redo ? 4 * 10 : 1e-9);
  }
}

TEST(IslandTheory, OneIslandIsTheOrdinaryCampaign) {
  int failed = 0;
  for (std::uint64_t index = 0; index < 200; ++index) {
    CampaignInputs inputs = random_plain_campaign(index);
    inputs.recovery.when_no_spare = WhenNoSpare::wait;
    std::erase_if(inputs.failures, [](const FailureClass& one) {
      return one.kind == FailureKind::planned || one.kind == FailureKind::slow_node;
    });
    inputs.table.slow_iteration_s.clear();
    inputs = counted_in_steps(inputs);
    const TrialResult job = run_trial(inputs, 0, CampaignMode::fast_forward);
    inputs.table.islands.of_node.assign(inputs.nodes, 0);
    const TrialResult island = as_islands(inputs);
    EXPECT_EQ(island.iterations, job.iterations) << index;
    EXPECT_EQ(island.failures, job.failures);
    EXPECT_EQ(island.snapshots, job.snapshots);
    EXPECT_NEAR(island.wall_s, job.wall_s, 1e-6 * job.wall_s);
    EXPECT_NEAR(island.useful_s, job.useful_s, 1e-6 * job.wall_s);
    for (int loss = 0; loss < kLosses; ++loss) {
      EXPECT_NEAR(island.lost_s[loss], job.lost_s[loss], 1e-6 * job.wall_s) << index << " " << loss;
    }
    failed += std::accumulate(job.failures.begin(), job.failures.end(), 0) > 0;
  }
  EXPECT_GT(failed, 100);
}

// --- properties of every campaign

CampaignInputs random_islands(std::uint64_t index) {
  RandomStream random(index, RandomPurpose::test, 77);
  CampaignInputs inputs = random_campaign(index);
  inputs.recovery.when_no_spare = WhenNoSpare::wait;
  inputs.recovery.elastic = {};
  inputs.table.shrunk_iteration_s.clear();
  inputs.table.shrunk_progress.clear();
  std::erase_if(inputs.failures,
                [](const FailureClass& one) { return one.kind == FailureKind::slow_node; });
  inputs.table.slow_iteration_s.clear();
  IslandTable& islands = inputs.table.islands;
  const int regions = 1 + static_cast<int>(random.below(3));
  const int members = 1 + static_cast<int>(random.below(4)) + (regions == 1 ? 1 : 0);
  islands.count = regions * members;
  inputs.nodes = std::max(inputs.nodes, islands.count);
  for (int node = 0; node < inputs.nodes; ++node) {
    islands.of_node.push_back(node * islands.count / inputs.nodes);
  }
  islands.fragments = 1 + static_cast<int>(random.below(3));
  const double cycle = 1 + 50 * random.uniform();
  const int delay = static_cast<int>(random.below(1 + static_cast<std::uint64_t>(cycle)));
  const double step_s = inputs.table.iteration_s[0];
  islands.levels = {{members, cycle, delay, step_s * 3 * random.uniform(), 0, 10}};
  if (regions > 1) {
    islands.levels.push_back({islands.count, 4 * cycle, 0, step_s, 0, 20});
    if (random.below(2) == 0) {
      islands.levels[1].missing = islands.count - 1;
      islands.levels[1].together = false;
    }
  } else {
    islands.levels[0].missing = static_cast<int>(random.below(members));
    if (random.below(2) == 0) inputs.recovery.when_no_spare = WhenNoSpare::shrink;
  }
  RandomStream of_layouts(index, RandomPurpose::test, 78);
  if (inputs.recovery.when_no_spare == WhenNoSpare::wait && of_layouts.below(2) == 0) {
    inputs.recovery.when_no_spare = WhenNoSpare::relayout;
    islands.smaller_pace = {1 + of_layouts.uniform(), 2 + of_layouts.uniform()};
  }
  islands.own_parts = of_layouts.below(4) == 0;
  return inputs;
}

TEST(IslandTrial, AccountsForEverySecond) {
  int lost = 0;
  int waited = 0;
  for (std::uint64_t index = 0; index < 400; ++index) {
    const CampaignInputs inputs = random_islands(index);
    // The account checks, as it is closed, that its parts sum to the wall time.
    SCOPED_TRACE(index);
    const TrialResult result = as_islands(inputs);
    EXPECT_GE(result.useful_s, 0);
    EXPECT_LE(result.useful_s, result.wall_s * (1 + 1e-12));
    for (const double seconds : result.lost_s) EXPECT_GE(seconds, -1e-6) << index;
    EXPECT_EQ(as_islands(inputs).lost_s[0], result.lost_s[0]);
    lost += result.count(CampaignCount::islands_lost) > 0;
    waited += lost_s(result, Loss::sync) > 0;
  }
  EXPECT_GT(lost, 200);
  EXPECT_GT(waited, 100);
}

// If islands do not wait for each other, a failure costs less the more islands there are.
TEST(IslandTrial, MoreIslandsLoseNoMore) {
  for (std::uint64_t index = 0; index < 50; ++index) {
    CampaignInputs inputs = islands_of(8, 50000);
    FailureClass crash;
    crash.kind = FailureKind::process;
    crash.rate_per_node_s = 1e-5;
    inputs.failures = {crash};
    inputs.campaign.seed = index;
    inputs.table.islands.levels[0].cycle_steps = 1e9;
    inputs.table.tiers = {{{.every_iterations = 20}, 10, 3}};
    inputs.table.iteration_s = {10, 10};
    double before = 0;
    for (const int islands : {1, 2, 4, 8}) {
      inputs.table.islands.count = islands;
      inputs.table.islands.levels[0].members = islands;
      for (int node = 0; node < 8; ++node) {
        inputs.table.islands.of_node[node] = node * islands / 8;
      }
      const TrialResult result = as_islands(inputs);
      // The iteration that the end of the campaign cuts may differ.
      EXPECT_GE(result.useful_s, before - 20) << index << " " << islands;
      before = result.useful_s;
    }
  }
}

}  // namespace
}  // namespace windtunnel
