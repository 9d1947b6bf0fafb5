// A provider takes nodes away, with a notice or as a trace of its capacity says. Tests compare with
// accounts worked out by hand, and with expectations in closed form. Iterations take 10 s; failures
// are detected after 5 s, restarts take 30 s.
#include "sim/campaign/failure_streams.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/base/random.hpp"
#include "models/reliability/interval_theory.hpp"
#include "tests/sim/campaign/by_hand.hpp"

namespace windtunnel {
namespace {

using by_hand::expect_account;
using by_hand::traced;
using Preemption = ::testing::TestWithParam<CampaignMode>;

FailureClass preempted(double at_s, double notice_s, std::int32_t node = 0) {
  FailureClass result = traced(FailureKind::node, {at_s}, {node});
  result.notice_s = notice_s;
  return result;
}

// Every 2 iterations a snapshot to storage stalls for 2 s; it is complete after 5 s and loads in 20
// s.
CampaignInputs spot_with_storage(double length_s) {
  CampaignInputs inputs;
  inputs.table.iteration_s = {10, 12};
  inputs.table.tiers = {{{.every_iterations = 2}, 5, 20}};
  inputs.recovery = {.spares = 1, .detect_s = 5, .restart_s = 30};
  inputs.campaign = {length_s, 1, 1};
  return inputs;
}

// Iteration 2 and its snapshot take 20 to 32 s; then the job saves for 5 s.
TEST_P(Preemption, ANoticeLongEnoughLosesNoIteration) {
  CampaignInputs inputs = spot_with_storage(119);
  for (const double notice_s : {12.0, 60.0, 1000.0}) {
    inputs.failures = {preempted(25, notice_s)};
    // The job saves to 37, restarts to 67 and loads to 87; it runs iterations 3 to 97, 4 to 109 and
    // 5 to 119.
    const TrialResult result = run_trial(inputs, 0, GetParam());
    expect_account(result, {6, 119, 2 + 5 + 2, 0, 0, 30 + 20, 0, 0});
    EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{0, 0}));
    EXPECT_EQ(result.failures, (std::vector<std::int64_t>{1}));
  }
}

TEST_P(Preemption, ANoticeTooShortEndsLikeALostNodeThatIsDetectedAtOnce) {
  CampaignInputs inputs = spot_with_storage(118);
  inputs.failures = {preempted(25, 11)};
  // The job trains until 36, restarts to 66 and loads state 2 to 86; it runs 3 to 106 and 4 to 118.
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {5, 118, 2 + 2, 10 + 4, 0, 30 + 20, 0, 0});
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{1, 0}));
}

TEST_P(Preemption, WithoutASpareTheNextNodeIsWaitedFor) {
  CampaignInputs inputs = spot_with_storage(197);
  inputs.recovery.spares = 0;
  inputs.failures = {preempted(25, 60)};
  inputs.failures[0].repair.fixed_s = 100;
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {4, 197, 2 + 5, 0, 0, 30 + 20, 0, 100});
  EXPECT_DOUBLE_EQ(result.node_down_s, 100);
}

TEST_P(Preemption, AJobThatShrinksGoesOnWithoutIt) {
  CampaignInputs inputs = spot_with_storage(97);
  inputs.nodes = 4;
  inputs.table.shrunk_iteration_s = {10};
  inputs.table.shrunk_progress = {0.75};
  inputs.recovery.spares = 0;
  inputs.recovery.when_no_spare = WhenNoSpare::shrink;
  inputs.failures = {preempted(25, 60)};
  inputs.failures[0].repair.fixed_s = 1000;
  expect_account(run_trial(inputs, 0, GetParam()), {4, 97, 2 + 5, 0, 0, 30 + 20, 2.5, 0});
}

TEST_P(Preemption, AJobThatIsDownGivesTheNodeUpAtOnce) {
  CampaignInputs inputs = spot_with_storage(110);
  inputs.failures = {traced(FailureKind::process, {25}), preempted(40, 60)};
  // Iteration 2 is cut at 25; detection lasts to 30. The restart begins at 30 and again at 40, and
  // ends at 70; state 2 is loaded at 90.
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {4, 110, 0, 5, 5, 10 + 30 + 20, 0, 0});
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{2, 0}));
}

// A crash before the end of the notice takes the node as well, so that one restart serves both.
TEST_P(Preemption, AFailureWithinTheNoticeTakesTheNodeToo) {
  CampaignInputs inputs = spot_with_storage(106);
  inputs.failures = {preempted(25, 60), traced(FailureKind::process, {31})};
  // Training is cut at 31; detection lasts to 36, the restart to 66, loading state 2 to 86, and 3
  // to 106.
  expect_account(run_trial(inputs, 0, GetParam()), {4, 106, 0, 11, 5, 30 + 20, 0, 0});
}

TEST_P(Preemption, AStopThatSavesGoesOnUnderANotice) {
  CampaignInputs inputs = spot_with_storage(119);
  // The planned stop saves from 32 to 37, and one restart serves both.
  inputs.failures = {traced(FailureKind::planned, {25}), preempted(34, 60)};
  expect_account(run_trial(inputs, 0, GetParam()), {6, 119, 2 + 5 + 2, 0, 0, 30 + 20, 0, 0});
  // With a notice of 2 s the node leaves at 36, before the snapshot is saved.
  inputs.campaign.length_s = 118;
  inputs.failures[1].notice_s = 2;
  expect_account(run_trial(inputs, 0, GetParam()), {5, 118, 2 + 4 + 2, 10, 0, 30 + 20, 0, 0});
}

// Saving to peers, of which two may be lost, takes 4 s; saving to storage takes 50 s.
TEST_P(Preemption, TheQuickestTierThatOutlivesItIsSavedTo) {
  CampaignInputs inputs = spot_with_storage(84);
  inputs.nodes = 4;
  inputs.recovery.spares = 4;
  SnapshotTier peers{.place = SnapshotPlace::peers, .every_iterations = 2, .keeper_process = true};
  peers.code = {CodeName::reed_solomon, 2, 2};
  inputs.table.tiers = {{peers, 4, 3, 9}, {{.every_iterations = 1000}, 50, 20}};
  inputs.table.iteration_s = {10, 11, 12, 13};
  inputs.failures = {preempted(25, 20)};
  // Iteration 2 ends at 31; the job saves to 35, restarts to 65 and rebuilds to 74; 3 ends at 84.
  expect_account(run_trial(inputs, 0, GetParam()), {4, 84, 1 + 4, 0, 0, 30 + 9, 0, 0});
  // No code covers three losses at once: the job trains on until 45, and no copy is left.
  inputs.campaign.length_s = 85;
  inputs.failures[0].trace_nodes.clear();
  inputs.failures[0].batch_shares = {0, 0, 1};
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {1, 85, 1, 40 + 4, 0, 30, 0, 0});
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{0, 0, 1}));
}

TEST_P(Preemption, ItsGroupLeavesAtTheEndOfTheIteration) {
  CampaignInputs inputs = spot_with_storage(56);
  inputs.table.tiers.clear();
  inputs.table.iteration_s = {10};
  inputs.nodes = 4;
  inputs.table.shrunk_iteration_s = {10};
  inputs.table.shrunk_progress = {0.75};
  inputs.recovery.elastic = {4, 3, 7, 2};
  inputs.failures = {preempted(25, 60, 2)};
  // Iteration 2 ends at 30; a stall lasts to 33; three of four groups run 3 to 43. The group is
  // ready at 40 and joins, which takes to 45.
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {5, 55, 0, 0, 0, 3 + 2, 2.5, 0});
  EXPECT_DOUBLE_EQ(result.useful_s, 47.5);
  // With a notice of 3 s the group leaves at 28: 2 is cut and runs without it from 31 to 41; it
  // joins to 43.
  inputs.failures[0].notice_s = 3;
  inputs.campaign.length_s = 54;
  expect_account(run_trial(inputs, 0, GetParam()), {4, 53, 0, 8, 0, 3 + 2, 2.5, 0});
}

// --- capacity

FailureClass of_capacity(const std::vector<double>& at_s, const std::vector<int>& given, int nodes,
                         double notice_s) {
  FailureClass result;
  result.name = "spot";
  result.kind = FailureKind::node;
  result.notice_s = notice_s;
  set_capacity(at_s, given, nodes, result);
  return result;
}

// The provider takes one of two nodes from 25 to 100 s, and both from 300 s on.
TEST_P(Preemption, CapacityTakesNodesAndGivesThemBack) {
  CampaignInputs inputs = spot_with_storage(400);
  inputs.table.tiers.clear();
  inputs.table.iteration_s = {10};
  inputs.nodes = 2;
  inputs.recovery.spares = 0;
  inputs.failures = {of_capacity({0, 25, 100, 300}, {5, 1, 7, 0}, 2, 0)};
  // The trial runs iterations 0, 1 and half of 2 to 25 s, detects to 30 s, restarts from 100 to 130
  // s, and runs 17 iterations to 300 s.
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {0, 400, 0, 25 + 170, 5 + 5, 30, 0, 70 + 95});
  EXPECT_EQ(result.failures, (std::vector<std::int64_t>{2}));
  EXPECT_DOUBLE_EQ(result.node_down_s, 75 + 2 * 100);
}

INSTANTIATE_TEST_SUITE_P(Campaign, Preemption,
                         ::testing::Values(CampaignMode::fast_forward, CampaignMode::replay),
                         [](const auto& mode) {
                           return mode.param == CampaignMode::replay ? "replay" : "fast_forward";
                         });

// Nodes are away as long as the trace says (compared by the integral of missing nodes), whatever
// the job does, with or without spares. With a notice they leave earlier by at most the notice.
TEST(Capacity, NodesAreAwayAsLongAsTheTraceSays) {
  for (std::uint64_t index = 0; index < 200; ++index) {
    SCOPED_TRACE(index);
    RandomStream random(index, RandomPurpose::test, 41);
    CampaignInputs inputs = spot_with_storage(5000);
    inputs.nodes = 8;
    inputs.recovery.spares = static_cast<int>(random.below(3));
    inputs.recovery.repair_slots = static_cast<int>(random.below(2));
    inputs.recovery.evict_after = static_cast<int>(random.below(2));
    const double notice_s = index % 2 == 0 ? 0 : 200 * random.uniform();
    std::vector<double> at_s;
    std::vector<int> given;
    double missing_s = 0;
    double taken = 0;
    int before = 8;
    for (double now_s = 300;;) {
      const double next_s = now_s + random.exponential(300);
      at_s.push_back(now_s);
      given.push_back(static_cast<int>(random.below(12)));
      const int now = std::min(given.back(), 8);
      taken += std::max(0, before - now);
      missing_s += (8 - now) * (std::min(next_s, 5000.0) - now_s);
      before = now;
      now_s = next_s;
      if (now_s >= 5000) break;
    }
    inputs.failures = {of_capacity(at_s, given, 8, notice_s)};
    const TrialResult result = run_trial(inputs, 0, CampaignMode::fast_forward);
    EXPECT_GE(result.node_down_s, missing_s * (1 - 1e-9));
    EXPECT_LE(result.node_down_s, (missing_s + taken * notice_s) * (1 + 1e-9));
    EXPECT_EQ(result.count(CampaignCount::evicted_nodes), 0);
  }
}

// --- expectations

constexpr double kUntilTaken_s = 100;

// The job saves in 1.5 s, restarts in 3 s and loads in 1 s.
CampaignInputs often_preempted(int every, double notice_s) {
  CampaignInputs inputs;
  inputs.nodes = 4;
  inputs.table.tiers = {{{.every_iterations = every}, 1.5, 1}};
  inputs.table.iteration_s = {1, 2.5};
  inputs.recovery = {.spares = 4, .detect_s = 2, .restart_s = 3};
  FailureClass spot;
  spot.notice_s = notice_s;
  spot.rate_per_node_s = 1 / kUntilTaken_s / inputs.nodes;
  inputs.failures = {spot};
  inputs.campaign = {30000, 2000, 1};
  return inputs;
}

// Iterations of length p run to the end of the one in which the first notice comes. They take U = p
// / (1 - e^(-p/M)) on average, and all of them count. Then the job saves, and is down for Q, which
// further notices start again: W = M (e^(Q/M) - 1).
TEST(PreemptionTheory, WhatANoticeLeavesIsSavingAndRestarting) {
  const CampaignReport report = run_campaign(often_preempted(1'000'000, 60));
  const double trains_s = 1 / -std::expm1(-1 / kUntilTaken_s);
  const double down_s = kUntilTaken_s * std::expm1((3.0 + 1) / kUntilTaken_s);
  const double expected = trains_s / (trains_s + 1.5 + down_s);
  EXPECT_NEAR(report.goodput.mean / expected, 1, 1e-3);
  EXPECT_LT(report.goodput.high - report.goodput.low, 2e-3 * expected);
  EXPECT_EQ(report.lost_s[static_cast<int>(Loss::detect)].mean, 0);
  EXPECT_EQ(report.lost_s[static_cast<int>(Loss::redo)].mean, 0);
}

// Rare notices come at a uniform time of an iteration of length t. With a notice of n seconds and C
// seconds to save, a share (n - C) / t of them is in time.
TEST(PreemptionTheory, HowManyAreInTimeFollowsFromTheRestOfTheIteration) {
  for (const double notice_s : {2.0, 4.5, 8.0, 20.0}) {
    CampaignInputs inputs = often_preempted(1'000'000, notice_s);
    inputs.table.iteration_s = {10, 11.5};
    inputs.recovery.restart_s = 0;
    inputs.failures[0].rate_per_node_s = 1e-4 / inputs.nodes;
    inputs.campaign = {1e8, 1, 1};
    std::vector<CampaignEvent> events;
    const TrialResult result = run_trial(inputs, 0, CampaignMode::fast_forward, &events);
    const auto failures = static_cast<double>(result.failures[0]);
    const auto saved = std::ranges::count(events, CampaignEvent::Kind::saved, &CampaignEvent::kind);
    const double share = std::min(1.0, (notice_s - 1.5) / 10);
    // Notices while the job is down, or during another notice, add fewer than one in 500.
    const double error = 4 * std::sqrt(share * (1 - share) / failures) + 2e-3;
    EXPECT_NEAR(static_cast<double>(saved) / failures, share, error) << notice_s;
    EXPECT_GT(failures, 9000);
  }
}

// A notice too short to save is a lost node that is detected at once (Daly's expectation).
TEST(PreemptionTheory, ANoticeTooShortLosesAsAFailureDoes) {
  const CampaignReport report = run_campaign(often_preempted(20, 0.01));
  EXPECT_NEAR(report.goodput.mean / expected_goodput(20, 1.5, kUntilTaken_s, 3 + 1), 1, 1e-3);
}

}  // namespace
}  // namespace windtunnel
