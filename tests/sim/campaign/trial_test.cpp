// Tests check the rules of protection and recovery, one by one, on accounts worked out by hand.
// Iterations take 10 s; failures are detected after 5 s, restarts take 30 s.
#include <gtest/gtest.h>

#include <cmath>

#include "models/base/error.hpp"
#include "tests/sim/campaign/by_hand.hpp"

namespace windtunnel {
namespace {

using by_hand::expect_account;
using by_hand::traced;
using Rules = ::testing::TestWithParam<CampaignMode>;

CampaignInputs no_tier(double length_s) {
  CampaignInputs inputs;
  inputs.table.iteration_s = {10};
  inputs.recovery = {.spares = 0, .detect_s = 5, .restart_s = 30};
  inputs.campaign = {length_s, 1, 1};
  return inputs;
}

// Two replicas have nodes 0 and 1, and 2 and 3, so nodes 0 and 2 hold the same shards, and so do 1
// and 3.
CampaignInputs with_replicas(double length_s) {
  CampaignInputs inputs = no_tier(length_s);
  inputs.nodes = 4;
  inputs.same_shard = {4, 2, 2};
  inputs.table.tiers = {{{.place = SnapshotPlace::replicas}, 0, 7}};
  inputs.table.iteration_s = {10, 10};
  return inputs;
}

// A snapshot every 2 iterations stalls for 2 s, is complete after 5 s and loads in 20 s.
CampaignInputs with_storage(double length_s) {
  CampaignInputs inputs = no_tier(length_s);
  inputs.table.tiers = {{{.every_iterations = 2}, 5, 20}};
  inputs.table.iteration_s = {10, 12};
  return inputs;
}

// A snapshot every 2 iterations stalls for 1 s and is complete after 4 s; two of four nodes may be
// lost. It loads in 3 s, or is rebuilt in 9 s.
CampaignInputs with_peers(double length_s) {
  CampaignInputs inputs = no_tier(length_s);
  inputs.nodes = 4;
  inputs.recovery.spares = 4;
  SnapshotTier peers{.place = SnapshotPlace::peers, .every_iterations = 2, .keeper_process = true};
  peers.code = {CodeName::reed_solomon, 2, 2};
  inputs.table.tiers = {{peers, 4, 3, 9}};
  inputs.table.iteration_s = {10, 11};
  return inputs;
}

// --- what restarts read in addition to a copy

TEST_P(Rules, RestartsReadTheRestAndMeetOthers) {
  CampaignInputs inputs = with_storage(2000);
  inputs.failures = {traced(FailureKind::process, {5, 500, 900, 1300})};
  const auto lost_s = [&](const CampaignInputs& of) {
    return run_trial(of, 0, GetParam()).lost_s[static_cast<int>(Loss::restart)];
  };
  const double plain_s = lost_s(inputs);
  inputs.table.tiers[0].startup = {.alone_s = 3, .storm_s = 40};
  inputs.table.anew = {.alone_s = 2, .storm_s = 30};  // for the first start, without a copy
  EXPECT_DOUBLE_EQ(lost_s(inputs), plain_s + 32 + 3 * 43);
  inputs.table.storm_chance = 0;
  EXPECT_DOUBLE_EQ(lost_s(inputs), plain_s + 2 + 3 * 3);
  // Each start draws whether there is a storm: 0 or 30 s for the first, 0 or 40 s for each other.
  inputs.table.storm_chance = 0.5;
  double sum_s = 0;
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    sum_s += run_trial(inputs, trial, GetParam()).lost_s[static_cast<int>(Loss::restart)];
  }
  EXPECT_NEAR(sum_s / kTrials, plain_s + 2 + 3 * 3 + 0.5 * (30 + 3 * 40), 8);
}

// --- copies

// Iterations 0 1 2* 3 take 0-41, and 41-50 is part of 4*, whose copy is complete at 45.
TEST_P(Rules, ACodeRebuildsWhatItsLostNodesHeld) {
  CampaignInputs inputs = with_peers(130);
  inputs.failures = {traced(FailureKind::node, {50, 60}, {0, 1})};
  // Detection takes 50-55, restart 55-60 and, after the second failure, detection 60-65, restart
  // and rebuilding to 104; iterations 4 5 run to 124.
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {6, 124, 1, 9, 10, 5 + 39, 0, 0});
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{2, 0}));
}

TEST_P(Rules, ACodeThatLostMoreThanItsParityHasNothing) {
  CampaignInputs inputs = with_peers(110);
  inputs.failures = {traced(FailureKind::node, {50, 60, 61}, {0, 1, 2})};
  // Detection takes 61-66, the restart lasts to 96, and iteration 0 to 106.
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {1, 106, 1, 9 + 40, 5 + 1 + 5, 5 + 30, 0, 0});
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{2, 1}));
}

TEST_P(Rules, ANewCopyForgetsTheLosses) {
  CampaignInputs inputs = with_peers(200);
  inputs.failures = {traced(FailureKind::node, {50, 60, 119, 120}, {0, 1, 2, 3})};
  // Two nodes are replaced by 104. Iterations 4 and 5 run to 114 and 124, so at 119 there is no
  // newer copy, and the third and fourth loss destroy the old one. 120-125 detection, to 155
  // restart, 0 1 2* 3 to 196.
  EXPECT_EQ(run_trial(inputs, 0, GetParam()).restored_from, (std::vector<std::int64_t>{2, 2}));
  // The copy of 6* starts at 124 and is complete at 128.
  inputs.failures = {traced(FailureKind::node, {50, 60, 128, 129}, {0, 1, 2, 3})};
  EXPECT_EQ(run_trial(inputs, 0, GetParam()).restored_from, (std::vector<std::int64_t>{4, 0}));
}

TEST_P(Rules, AKeeperThatDiesTakesItsMemoryAlong) {
  CampaignInputs inputs = with_peers(110);
  inputs.table.tiers[0].tier.code = {CodeName::xor_parity, 3, 1};
  inputs.failures = {traced(FailureKind::process, {50, 51}, {0, 1})};
  EXPECT_EQ(run_trial(inputs, 0, GetParam()).restored_from, (std::vector<std::int64_t>{2, 0}));
  inputs.failures[0].takes_keeper = true;
  EXPECT_EQ(run_trial(inputs, 0, GetParam()).restored_from, (std::vector<std::int64_t>{1, 1}));
}

TEST_P(Rules, ReplicasHoldTheStepUnderWay) {
  CampaignInputs inputs = with_replicas(80);
  inputs.failures = {traced(FailureKind::process, {25}, {0})};
  expect_account(run_trial(inputs, 0, GetParam()), {3, 77, 0, 5, 5, 37, 0, 0});
  inputs.failures = {traced(FailureKind::process, {25, 40}, {0, 1})};
  EXPECT_EQ(run_trial(inputs, 0, GetParam()).restored_from, (std::vector<std::int64_t>{2, 0}));
  // Both nodes that hold a shard fail.
  inputs.campaign.length_s = 90;
  inputs.failures = {traced(FailureKind::process, {25, 40}, {0, 2})};
  expect_account(run_trial(inputs, 0, GetParam()), {1, 85, 0, 25, 10, 40, 0, 0});
  // After the restart all nodes hold their shards again.
  inputs.failures = {traced(FailureKind::process, {25, 70}, {0, 2})};
  EXPECT_EQ(run_trial(inputs, 0, GetParam()).restored_from, (std::vector<std::int64_t>{2, 0}));
}

// When node 0 is lost, node 1 of its replica is idle and holds an old step.
TEST_P(Rules, IdleNodesOfABrokenReplicaHoldNoStep) {
  CampaignInputs inputs = with_replicas(200);
  inputs.table.shrunk_iteration_s = {10, 10};
  inputs.table.shrunk_progress = {0.5, 0.5};
  inputs.recovery.when_no_spare = WhenNoSpare::shrink;
  inputs.failures = {traced(FailureKind::node, {25}, {0}),
                     traced(FailureKind::process, {120}, {3})};
  inputs.failures[0].repair.fixed_s = 1000;
  EXPECT_EQ(run_trial(inputs, 0, GetParam()).restored_from, (std::vector<std::int64_t>{1, 1}));
  inputs.failures[1].trace_nodes = {1};
  EXPECT_EQ(run_trial(inputs, 0, GetParam()).restored_from, (std::vector<std::int64_t>{2, 0}));
}

// Iterations 0 1 2* 3 4* 5 take 0-64, 10 or 12 s each; the copies of 2 and 4 start at 20 and 42.
TEST_P(Rules, ABadCopyCostsItsLoadAndTheOneBeforeCounts) {
  CampaignInputs inputs = with_storage(160);
  inputs.failures = {traced(FailureKind::corrupt_snapshot, {60}),
                     traced(FailureKind::process, {62})};
  // Detection takes 62-67, restart and two loads 30 + 20 + 20 to 137; iterations 2 3 run to 157.
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {4, 157, 4, 8 + 30, 5, 70, 0, 0});
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(run_campaign(inputs).failures.at("unexpected").mean, 1);
  // If one copy is kept, none is left, so the job restarts from 0 to 127.
  inputs.table.tiers[0].tier.kept = 1;
  inputs.campaign.length_s = 130;
  expect_account(run_trial(inputs, 0, GetParam()), {1, 127, 4, 8 + 50, 5, 50, 0, 0});
  // If the copy of 2 turns bad at 30, it is no longer the newest at 62.
  inputs.failures[0].trace_s = {30};
  expect_account(run_trial(inputs, 0, GetParam()), {5, 127, 4, 8 + 10, 5, 50, 0, 0});
}

TEST_P(Rules, ALossSpikeGoesBackToBeforeItBegan) {
  CampaignInputs inputs = with_storage(130);
  inputs.failures = {traced(FailureKind::loss_spike, {62})};
  inputs.failures[0].rollback_s = 25;
  // The job goes back to state 2: 62-67 detection, restart and load to 117, 2 to 127.
  expect_account(run_trial(inputs, 0, GetParam()), {3, 127, 4, 8 + 30, 5, 50, 0, 0});
  inputs.failures[0].rollback_s = 50;
  inputs.campaign.length_s = 110;
  expect_account(run_trial(inputs, 0, GetParam()), {1, 107, 4, 8 + 50, 5, 30, 0, 0});
}

// --- kinds of failure

TEST_P(Rules, ANetworkFailureWaitsForItsLink) {
  CampaignInputs inputs = no_tier(170);
  inputs.failures = {traced(FailureKind::network, {25})};
  inputs.failures[0].repair.fixed_s = 100;
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {1, 165, 0, 25, 5, 30, 0, 95});
  EXPECT_EQ(result.node_down_s, 0);
  inputs.failures[0].repair.fixed_s = 0;
  EXPECT_EQ(run_trial(inputs, 0, GetParam()).lost_s[static_cast<int>(Loss::wait)], 0);
}

TEST_P(Rules, AHangCostsTheTimeUntilItIsNoticed) {
  CampaignInputs inputs = with_peers(200);
  inputs.failures = {traced(FailureKind::hang, {50}, {1})};
  inputs.failures[0].detect_s = 100;
  expect_account(run_trial(inputs, 0, GetParam()), {5, 193, 1, 9, 100, 33, 0, 0});
}

TEST_P(Rules, ASlowNodeSlowsUntilItIsReplaced) {
  CampaignInputs inputs = no_tier(145);
  inputs.table.tiers = {{{.every_iterations = 100}, 15, 20}};
  inputs.table.iteration_s = {10, 12};
  inputs.table.slow_iteration_s = {15};
  inputs.recovery.spares = 1;
  inputs.failures = {traced(FailureKind::slow_node, {25})};
  inputs.failures[0].detect_s = 30;
  inputs.failures[0].repair.fixed_s = 70;
  // The node is slow: iterations 2 3 4 take 15 s each, to 65, and this is noticed at 55. The job
  // saves for 15 s, restarts and loads for 50 s to 130, and runs 5 to 140.
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {6, 140, 15, 0, 0, 50, 15, 0});
  EXPECT_DOUBLE_EQ(result.node_down_s, 65);  // from 80 s to the end
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{0, 0}));
}

TEST_P(Rules, ASlowNodeWithoutACopyThatOutlivesItIsAFailure) {
  CampaignInputs inputs = no_tier(100);
  const SnapshotTier host{
      .place = SnapshotPlace::host_memory, .every_iterations = 100, .keeper_process = true};
  inputs.table.tiers = {{host, 15, 20}};
  inputs.table.iteration_s = {10, 12};
  inputs.table.slow_iteration_s = {15};
  inputs.recovery.spares = 1;
  inputs.failures = {traced(FailureKind::slow_node, {25})};
  inputs.failures[0].detect_s = 30;
  // Iterations 0 1 last to 20, 2 3 to 50; 4 is cut at 55, the restart ends at 85, 0 at 95.
  expect_account(run_trial(inputs, 0, GetParam()), {1, 95, 0, 20 + 30 + 5, 0, 30, 0, 0});
}

TEST_P(Rules, ABatchTakesItsNodesAtOnce) {
  CampaignInputs inputs = with_peers(105);
  inputs.recovery.spares = 2;
  FailureClass batch = traced(FailureKind::node, {50});
  batch.batch_shares = {0, 0, 1};
  batch.repair.fixed_s = 20;
  inputs.failures = {batch};
  // Three of four nodes are lost, more than the code covers; the third waits 55-70 for a repair.
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {0, 100, 1, 9 + 40, 5, 30, 0, 15});
}

// --- nodes

TEST_P(Rules, ANodeThatFailsOftenDoesNotComeBack) {
  CampaignInputs inputs = no_tier(200);
  inputs.recovery.evict_after = 2;
  inputs.failures = {traced(FailureKind::node, {5, 80})};
  inputs.failures[0].repair.fixed_s = 20;
  // The job waits 10-25, restarts to 55 and runs 0 1 to 75. From 85 on it waits for a node that
  // does not return.
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {0, 200, 0, 5 + 20 + 5, 10, 30, 0, 15 + 115});
  EXPECT_EQ(result.count(CampaignCount::evicted_nodes), 1);
  // Within 70 s the node failed only once.
  inputs.recovery.evict_within_s = 70;
  EXPECT_EQ(run_trial(inputs, 0, GetParam()).count(CampaignCount::evicted_nodes), 0);
}

TEST_P(Rules, HotSparesJoinAtOnceOthersAreProvided) {
  CampaignInputs inputs = no_tier(105);
  inputs.recovery.spares = 2;
  inputs.recovery.hot_spares = 1;
  inputs.recovery.provision_s = 50;
  inputs.failures = {traced(FailureKind::node, {5, 50})};
  inputs.failures[0].repair.fixed_s = 1000;
  // The first spare is hot and joins at once; iterations run to 50. The second is provided from 5
  // to 55, which delays the restart by 5 s.
  expect_account(run_trial(inputs, 0, GetParam()), {1, 100, 0, 5 + 10, 10, 30 + 35, 0, 0});
  inputs.recovery.hot_spares = 0;
  inputs.failures[0].trace_s = {5};
  expect_account(run_trial(inputs, 0, GetParam()), {1, 100, 0, 5, 5, 80, 0, 0});
}

TEST_P(Rules, RepairsQueueForTheirSlots) {
  CampaignInputs inputs = no_tier(145);
  inputs.nodes = 2;
  inputs.recovery.repair_slots = 1;
  inputs.failures = {traced(FailureKind::node, {1, 2})};
  inputs.failures[0].repair.fixed_s = 50;
  // The nodes are back at 51 and 101.
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {1, 141, 0, 1, 6, 30, 0, 94});
  EXPECT_DOUBLE_EQ(result.node_down_s, 50 + 99);
}

TEST_P(Rules, APlaceWhereNobodyStandsCannotFail) {
  CampaignInputs inputs = no_tier(141);
  inputs.nodes = 2;
  inputs.failures = {traced(FailureKind::node, {1, 2}, {0, 0})};
  inputs.failures[0].repair.fixed_s = 50;
  const TrialResult result = run_trial(inputs, 0, GetParam());
  EXPECT_EQ(result.failures, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{1}));
  EXPECT_DOUBLE_EQ(result.node_down_s, 50);
}

// --- recovery

TEST_P(Rules, WhereAHumanMustActItTakesUntilOneIsThere) {
  CampaignInputs inputs = no_tier(3705);
  inputs.failures = {traced(FailureKind::process, {25})};
  inputs.failures[0].manual_share = 1;
  inputs.recovery.attended = {1, 2};
  inputs.recovery.manual_s = 60;
  expect_account(run_trial(inputs, 0, GetParam()), {1, 3700, 0, 25, 3635, 30, 0, 0});
  // The job is attended from 23 to 1 o'clock, so the failure is handled at once.
  inputs.recovery.attended = {23, 1};
  inputs.campaign.length_s = 135;
  expect_account(run_trial(inputs, 0, GetParam()), {1, 130, 0, 25, 65, 30, 0, 0});
}

TEST_P(Rules, ReadinessCostsAShareOfEveryIteration) {
  CampaignInputs inputs = no_tier(126);
  inputs.recovery.steady_overhead = 0.25;
  expect_account(run_trial(inputs, 0, GetParam()), {10, 125, 0, 0, 0, 0, 25, 0});
}

TEST_P(Rules, RestartsThatDoNotWorkAreRepeated) {
  CampaignInputs inputs = no_tier(1e6);
  std::vector<double> times_s;
  for (int i = 1; i <= 900; ++i) times_s.push_back(1000.0 * i);
  inputs.failures = {traced(FailureKind::process, times_s)};
  inputs.recovery.success = 0.5;
  const TrialResult result = run_trial(inputs, 0, GetParam());
  const auto failed = static_cast<double>(result.count(CampaignCount::failed_restarts));
  EXPECT_NEAR(failed, 900, 4 * std::sqrt(900 * 2));  // geometric: variance (1 - p) / p^2
  EXPECT_DOUBLE_EQ(result.lost_s[static_cast<int>(Loss::restart)], 30 * (900 + failed));
}

// The job has four groups of one node.
CampaignInputs elastic(double length_s) {
  CampaignInputs inputs = no_tier(length_s);
  inputs.nodes = 4;
  inputs.table.shrunk_iteration_s = {10};
  inputs.table.shrunk_progress = {0.75};
  inputs.recovery.elastic = {4, 3, 7, 2};
  return inputs;
}

TEST_P(Rules, GroupsGoOnWithoutTheOneThatFailed) {
  CampaignInputs inputs = elastic(66);
  inputs.recovery.spares = 1;
  inputs.failures = {traced(FailureKind::node, {25}, {2})};
  // Iterations 0 1 last to 20, 2 is cut at 25; detection to 30, stall to 33, 2 with three of four
  // groups to 43. The lost group is ready at 40 and joins to 45; 3 4 last to 65.
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {5, 65, 0, 5, 5, 3 + 2, 2.5, 0});
  EXPECT_DOUBLE_EQ(result.useful_s, 47.5);
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{0}));
  // The group fails again at 36 and is ready at 41 + 7; the others do not stop. They run 3 to 53
  // without it, and 4 to 65.
  inputs.failures = {traced(FailureKind::process, {25, 36}, {2, 2})};
  expect_account(run_trial(inputs, 0, GetParam()), {5, 65, 0, 5, 5, 3 + 2, 5, 0});
}

TEST_P(Rules, WithMoreGroupsOutThanTheTableKnowsTheJobRestarts) {
  CampaignInputs inputs = elastic(1066);
  inputs.failures = {traced(FailureKind::node, {25, 36}, {2, 0})};
  inputs.failures[0].repair.fixed_s = 1000;
  // Iteration 2 is cut at 36, and all starts from nothing. Detection lasts to 41; the first node is
  // back at 1025, and the restart ends at 1055. The second, back at 1036, is there by then.
  expect_account(run_trial(inputs, 0, GetParam()), {1, 1065, 0, 5 + 3 + 20, 10, 3 + 30, 0, 984});
}

INSTANTIATE_TEST_SUITE_P(Campaign, Rules,
                         ::testing::Values(CampaignMode::fast_forward, CampaignMode::replay),
                         [](const auto& mode) {
                           return mode.param == CampaignMode::replay ? "replay" : "fast_forward";
                         });

// --- many trials

// Without spares the same nodes come back and fail at the mean rate. Spares that stay in the job
// replace nodes that fail often.
TEST(CampaignRules, LemonsThatLeaveTakeTheirRateAlong) {
  CampaignInputs inputs = no_tier(1e6);
  inputs.nodes = 64;
  FailureClass node{.name = "node", .rate_per_node_s = 4e-6};
  node.frailty_variance = 4;
  inputs.failures = {node};
  inputs.campaign.trials = 60;
  const double same = run_campaign(inputs).failures.at("node").mean;
  EXPECT_NEAR(same, 256, 4 * 256 * std::sqrt(4.0 / 64 / 60));
  inputs.recovery.spares = 1000;
  EXPECT_LT(run_campaign(inputs).failures.at("node").mean, 0.5 * same);
}

TEST(CampaignRules, WhatCannotBeIsAnError) {
  const auto with = [](auto change) {
    CampaignInputs inputs = no_tier(100);
    change(inputs.recovery);
    return inputs;
  };
  const auto refused = [&](auto change) { EXPECT_THROW(run_campaign(with(change)), Error); };
  refused([](RecoveryPolicy& recovery) { recovery.hot_spares = 1; });
  refused([](RecoveryPolicy& recovery) { recovery.elastic.groups = 2; });  // groups have one node
  refused([](RecoveryPolicy& recovery) {
    recovery.success = 0.0005;
    recovery.restart_s = 0;
  });
  // No key can set these values.
  const auto caught = [&](auto change) { EXPECT_THROW(run_campaign(with(change)), InternalError); };
  caught([](RecoveryPolicy& recovery) { recovery.success = 0; });
  caught([](RecoveryPolicy& recovery) { recovery.repair_slots = -1; });
  caught([](RecoveryPolicy& recovery) { recovery.attended.to_h = 25; });
  caught([](RecoveryPolicy& recovery) { recovery.steady_overhead = -0.1; });
}

}  // namespace
}  // namespace windtunnel
