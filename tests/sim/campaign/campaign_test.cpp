// Tests check the rules of a campaign, one by one, on accounts worked out by hand.
#include "sim/campaign/campaign.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "models/base/units.hpp"
#include "tests/sim/campaign/by_hand.hpp"
#include "tests/sim/campaign/random_campaign.hpp"

namespace windtunnel {
namespace {

using by_hand::expect_account;
using by_hand::traced;
using Modes = ::testing::TestWithParam<CampaignMode>;

// Iterations take 10 s. A copy to host memory every 2 iterations stalls for 1 s and is complete
// after 4 s; one to storage every 4 iterations stalls for 2 s and is complete after 15 s. With
// `keeper`, host memory survives a crash of the trainer.
CampaignInputs two_tiers(bool keeper = true) {
  CampaignInputs inputs;
  const SnapshotTier host{.place = SnapshotPlace::host_memory,
                          .mode = SnapshotMode::async,
                          .every_iterations = 2,
                          .keeper_process = keeper};
  const SnapshotTier storage{.mode = SnapshotMode::async, .every_iterations = 4};
  inputs.table.tiers = {{host, 4, 3}, {storage, 15, 20}};
  inputs.table.iteration_s = {10, 11, 12, 14};
  inputs.recovery = {.spares = 0, .detect_s = 5, .restart_s = 30};
  inputs.campaign = {430, 1, 1};
  return inputs;
}

// The failures follow the same law but are drawn anew: over many trials the means agree, and no
// trial equals another.
TEST(ToChooseBy, MeetsOtherFailuresOfTheSameLaw) {
  CampaignInputs inputs = two_tiers();
  FailureClass crash{.name = "crash", .kind = FailureKind::process};
  crash.rate_per_node_s = 1e-4;
  inputs.failures = {crash};
  inputs.campaign = {1e5, 200, 3};
  const CampaignReport report = run_campaign(inputs);
  const CampaignReport other = run_campaign(to_choose_by(inputs));
  EXPECT_NE(report.trial_goodput, other.trial_goodput);
  EXPECT_GT(report.goodput.high, other.goodput.low);
  EXPECT_LT(report.goodput.low, other.goodput.high);
  EXPECT_EQ(run_campaign(to_choose_by(to_choose_by(inputs))).trial_goodput, other.trial_goodput);
  inputs.first_trial = 1;
  EXPECT_EQ(run_campaign(inputs).trial_goodput[0], report.trial_goodput[1]);
}

TEST_P(Modes, EachClassOnceByHand) {
  CampaignInputs inputs = two_tiers();
  inputs.failures = {traced(FailureKind::process, {50}), traced(FailureKind::node, {150}),
                     traced(FailureKind::planned, {335})};
  inputs.failures[1].repair.fixed_s = 100;
  inputs.failures[1].detect_s = 7;
  const TrialResult result = run_trial(inputs, 0, GetParam());
  // * marks a copy to host memory (11 s), ** one to both tiers (14 s). 0-41: iterations 0 1 2* 3.
  // 41-50: part of 4** (9 s are cut), whose copy of state 4 in host memory is complete at 45.
  // Detection to 55, restart 30 + restore 3 to 88. 88-143: 4 5 6* 7 8**; the storage copy of state
  // 8 is complete at 144. 143-150: part of 9 (7 s are cut). The node is lost and host memory with
  // it: back to 8, so the 10 s of iteration 8 are redone. Detection to 157, wait for the repair to
  // 250, restart 30 + 20 to 300. 300-341: 8 9 10* 11. Planned stop at 341: 15 s to storage, restart
  // 50 to 406. 406-426: 12 13. Iteration 14 would end at 437, so the account ends at 426.
  expect_account(result, {.iterations = 14,
                          .wall_s = 426,
                          .stall_s = 1 + (1 + 4) + 1 + 15,
                          .redo_s = 9 + 7 + 10,
                          .detect_s = 5 + 7,
                          .restart_s = 33 + 50 + 50,
                          .degraded_s = 0,
                          .wait_s = 93});
  EXPECT_EQ(result.failures, (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{1, 1, 0}));
  EXPECT_EQ(result.snapshots, (std::vector<std::int64_t>{4, 1}));
  EXPECT_EQ(result.skipped_snapshots, (std::vector<std::int64_t>{0, 0}));
  EXPECT_DOUBLE_EQ(result.node_down_s, 100);
}

TEST_P(Modes, WithoutKeeperHostMemoryDiesWithTheTrainer) {
  CampaignInputs inputs = two_tiers(false);
  inputs.failures = {traced(FailureKind::process, {50})};
  inputs.campaign.length_s = 95;
  // Storage holds no copy yet, so the job starts from the beginning and restores in 0 s. Iteration
  // 0 runs from 85 to 95.
  expect_account(run_trial(inputs, 0, GetParam()), {1, 95, 1, 9 + 40, 5, 30, 0, 0});
  EXPECT_EQ(run_trial(inputs, 0, GetParam()).restored_from, (std::vector<std::int64_t>{0, 0, 1}));
}

TEST_P(Modes, AnUnfinishedCopyFallsBackToTheOneBefore) {
  CampaignInputs inputs = two_tiers();
  inputs.campaign.length_s = 100;
  // The copy of state 4 starts at 41 and is complete at 45. Before 45 state 2 is restored.
  inputs.failures = {traced(FailureKind::process, {44.5})};
  expect_account(run_trial(inputs, 0, GetParam()), {3, 92.5, 1, 3.5 + 20, 5, 33, 0, 0});
  inputs.failures = {traced(FailureKind::process, {45.5})};
  expect_account(run_trial(inputs, 0, GetParam()), {5, 93.5, 1, 4.5, 5, 33, 0, 0});
}

TEST_P(Modes, AnUnfinishedCopyAfterALossHasNoneBefore) {
  CampaignInputs inputs = two_tiers();
  inputs.recovery.spares = 1;
  inputs.campaign.length_s = 205;
  inputs.failures = {traced(FailureKind::node, {60}), traced(FailureKind::process, {138})};
  // Host memory is lost with the node; storage has held state 4 since 56. The job is down 60-115
  // and runs 4 5 in 115-135. The host copy of state 6 starts at 135 and would be complete at 139,
  // so the second failure restores from storage, too, and the job is down 138-193.
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {5, 203, 1 + 4, 5 + 10 + 3 + 20, 10, 100, 0, 0});
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{0, 2, 0}));
}

TEST_P(Modes, AFailureDuringRecoveryStartsItAgain) {
  CampaignInputs inputs = two_tiers();
  inputs.campaign.length_s = 150;
  inputs.failures = {traced(FailureKind::process, {50, 60, 66})};
  // The trial takes 50-55 to detect, 55-60 to restart, 60-65 to detect, 65-66 to restart, 66-71 to
  // detect, and 71-104 to restart.
  expect_account(run_trial(inputs, 0, GetParam()), {8, 145, 1 + 1, 9, 15, 5 + 1 + 33, 0, 0});
}

TEST_P(Modes, ANodeLostDuringRecoveryTakesHostMemoryWithIt) {
  CampaignInputs inputs = two_tiers();
  inputs.recovery.spares = 1;
  inputs.campaign.length_s = 110;
  inputs.failures = {traced(FailureKind::process, {50}), traced(FailureKind::node, {60})};
  // The job was to restore from host memory, which is then lost, too: 60-65 detection, 65-95
  // restart from the beginning.
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {1, 105, 1, 9 + 40, 10, 5 + 30, 0, 0});
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{1, 0, 1}));
}

TEST_P(Modes, SparesAreTakenAtOnceAndRepairedNodesBecomeSpares) {
  CampaignInputs inputs = two_tiers();
  inputs.recovery.spares = 1;
  inputs.campaign.length_s = 400;
  inputs.failures = {traced(FailureKind::node, {5, 100, 150})};
  inputs.failures[0].repair.fixed_s = 80;
  // The first failure takes the spare. Its node is repaired at 85 and replaces the second. The
  // third failure, at 150, waits from 155 until the second node is back at 180.
  const TrialResult result = run_trial(inputs, 0, GetParam());
  EXPECT_DOUBLE_EQ(result.lost_s[static_cast<int>(Loss::wait)], 25);
  EXPECT_DOUBLE_EQ(result.node_down_s, 240);
}

TEST_P(Modes, PlannedStopsRedoNothing) {
  CampaignInputs inputs = two_tiers();
  inputs.campaign.length_s = 1000;
  inputs.failures = {traced(FailureKind::planned, {100, 101, 200, 500})};
  const TrialResult result = run_trial(inputs, 0, GetParam());
  EXPECT_EQ(result.lost_s[static_cast<int>(Loss::redo)], 0);
  EXPECT_EQ(result.lost_s[static_cast<int>(Loss::detect)], 0);
  // The second planned stop is merged into the first: both wait for the end of the same iteration.
  EXPECT_DOUBLE_EQ(result.lost_s[static_cast<int>(Loss::restart)], 3 * 50);
  EXPECT_EQ(result.failures, (std::vector<std::int64_t>{4}));
  EXPECT_EQ(result.restored_from, (std::vector<std::int64_t>{0, 0, 0}));
}

TEST_P(Modes, APlannedStopWhileDownIsDoneByThen) {
  CampaignInputs inputs = two_tiers();
  inputs.campaign.length_s = 150;
  inputs.failures = {traced(FailureKind::process, {50}), traced(FailureKind::planned, {60})};
  const TrialResult with_stop = run_trial(inputs, 0, GetParam());
  inputs.failures.pop_back();
  TrialResult without = run_trial(inputs, 0, GetParam());
  without.failures.push_back(1);
  EXPECT_EQ(with_stop, without);
}

TEST_P(Modes, AFailureDuringTheLastSnapshotLosesTheIterations) {
  CampaignInputs inputs = two_tiers();
  inputs.campaign.length_s = 120;
  inputs.failures = {traced(FailureKind::planned, {12}), traced(FailureKind::process, {25})};
  // The job stops at 20 and saves for 5 s, then goes back to the beginning: 25-30 detection, 30-60
  // restart, 60-115 iterations 0 1 2* 3 4**.
  expect_account(run_trial(inputs, 0, GetParam()), {5, 115, 5 + 1 + 4, 20, 5, 30, 0, 0});
}

// Losing one of eight nodes costs a quarter of the batch until the node is back.
TEST_P(Modes, ShrinkContinuesWithoutANodeAndGrowsBack) {
  CampaignInputs inputs = two_tiers();
  inputs.nodes = 8;
  inputs.table.shrunk_iteration_s = {9};
  inputs.table.shrunk_progress = {0.75};
  inputs.recovery.when_no_spare = WhenNoSpare::shrink;
  inputs.campaign.length_s = 210;
  inputs.failures = {traced(FailureKind::node, {5})};
  inputs.failures[0].repair.fixed_s = 80;
  // 5 s are cut; detection to 10, restart to 40. Shrunk: 0 and 1 to 58, 2* to 68, 3 to 77, and 4**
  // (9 + 4) to 90. The node is back at 85, so the job stops at 90 to grow: 15 s to storage, restart
  // 50 to 155. Full: 5 6* 7 8** to 155 + 10 + 11 + 10 + 14 = 200, 9 to 210.
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {10, 210, 1 + 4 + 1 + 4 + 15, 5, 5, 30 + 50, 5 * (9 - 7.5), 0});
  EXPECT_DOUBLE_EQ(result.useful_s, 5 * 7.5 + 5 * 10);
}

// In addition to the case above, converting the smaller job's state for the full job takes 7 s.
TEST_P(Modes, ACopyOfASmallerJobIsConverted) {
  CampaignInputs inputs = two_tiers();
  inputs.nodes = 8;
  inputs.table.shrunk_iteration_s = {9};
  inputs.table.shrunk_progress = {0.75};
  inputs.table.tiers[1].reshape_s = 7;
  inputs.recovery.when_no_spare = WhenNoSpare::shrink;
  inputs.campaign.length_s = 217;
  inputs.failures = {traced(FailureKind::node, {5})};
  inputs.failures[0].repair.fixed_s = 80;
  expect_account(run_trial(inputs, 0, GetParam()),
                 {10, 217, 1 + 4 + 1 + 4 + 15, 5, 5, 30 + 57, 5 * (9 - 7.5), 0});
  // Other ranks of the same stage take over the work, and every rank finds its copy.
  inputs.recovery.when_no_spare = WhenNoSpare::reroute;
  inputs.campaign.length_s = 210;
  expect_account(run_trial(inputs, 0, GetParam()),
                 {10, 210, 1 + 4 + 1 + 4 + 15, 5, 5, 30 + 50, 5 * (9 - 7.5), 0});
}

// If the smaller job has another layout, converting the copy for it takes 12 s.
TEST_P(Modes, ACopyOfAnotherLayoutIsConverted) {
  CampaignInputs inputs = two_tiers();
  inputs.nodes = 8;
  inputs.table.shrunk_iteration_s = {9};
  inputs.table.shrunk_progress = {0.75};
  inputs.table.shrunk_layout = {1};
  inputs.table.relaid = {{}};
  inputs.table.tiers[1].reshape_s = 7;
  inputs.table.tiers[1].convert_s = 12;
  inputs.recovery.when_no_spare = WhenNoSpare::relayout;
  inputs.campaign.length_s = 222;
  inputs.failures = {traced(FailureKind::node, {5})};
  inputs.failures[0].repair.fixed_s = 80;
  expect_account(run_trial(inputs, 0, GetParam()),
                 {10, 222, 1 + 4 + 1 + 4 + 15, 5, 5, 30 + 62, 5 * (9 - 7.5), 0});
}

// GPUs hold state in the layout that they train in: with one node out it is loaded as it is, and
// converted only when the job grows.
TEST_P(Modes, AStateOnGpusIsOfTheirLayout) {
  CampaignInputs inputs = two_tiers();
  inputs.nodes = 8;
  inputs.table.tiers = {{{.place = SnapshotPlace::replicas}, 0, 3}};
  inputs.table.tiers[0].convert_s = 12;
  inputs.table.iteration_s = {10, 10};
  inputs.table.shrunk_iteration_s = {10};
  inputs.table.shrunk_progress = {1};
  inputs.table.shrunk_layout = {1};
  inputs.table.relaid = {{}};
  inputs.same_shard = {8, 2, 2};
  inputs.recovery.when_no_spare = WhenNoSpare::relayout;
  inputs.campaign.length_s = 1000;
  inputs.failures = {traced(FailureKind::node, {105}, {0}),
                     traced(FailureKind::network, {305}, {1})};
  inputs.failures[0].repair.fixed_s = 1e6;
  const TrialResult result = run_trial(inputs, 0, GetParam());
  EXPECT_DOUBLE_EQ(result.lost_s[static_cast<int>(Loss::restart)], (30 + 3 + 12) + (30 + 3));
}

TEST_P(Modes, ShrinkWaitsWhenNotEnoughIsLeft) {
  CampaignInputs inputs = two_tiers();
  inputs.nodes = 2;
  inputs.table.shrunk_iteration_s = {10};
  inputs.table.shrunk_progress = {0.5};
  inputs.recovery.when_no_spare = WhenNoSpare::shrink;
  inputs.campaign.length_s = 120;
  inputs.failures = {traced(FailureKind::node, {1, 2})};
  inputs.failures[0].repair.fixed_s = 50;
  // Both nodes are gone until 51. The job then continues without one of them; the other is back at
  // 52, before the restart ends at 81, so both train from then on.
  expect_account(run_trial(inputs, 0, GetParam()), {3, 112, 1, 1, 1 + 5, 30, 0, 51 - 7});
}

// Two of eight nodes are lost, and the job grows each time that one comes back.
TEST_P(Modes, ShrinkKnowsEveryNumberOfNodesOut) {
  CampaignInputs inputs = two_tiers();
  inputs.nodes = 8;
  inputs.table.shrunk_iteration_s = {9, 8};
  inputs.table.shrunk_progress = {0.75, 0.5};
  inputs.recovery.when_no_spare = WhenNoSpare::shrink;
  inputs.campaign.length_s = 290;
  FailureClass first = traced(FailureKind::node, {1});
  first.repair.fixed_s = 59;
  FailureClass second = traced(FailureKind::node, {2});
  second.repair.fixed_s = 153;
  inputs.failures = {first, second};
  // 1 s is cut, 1 s of detection passes, detection starts again and lasts to 7, restart to 37. Two
  // nodes out: 0 1 2* to 37 + 8 + 8 + 9 = 62; the first is back at 60, so 15 s to storage and
  // restart 50 to 127. One out: 3 to 136, 4** to 149, 5 to 158; the second is back at 155: 15 + 50
  // to 223. Full: 6 7 to 243, 8** to 257 (state 6 has just been loaded), 9 to 267, 10* to 278, 11
  // to 288.
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {12, 288, (1 + 15) + (4 + 15) + 4 + 1, 1, 1 + 5, 30 + 50 + 50,
                          3 * (8 - 5) + 3 * (9 - 7.5), 0});
  EXPECT_DOUBLE_EQ(result.useful_s, 3 * 5 + 3 * 7.5 + 6 * 10);
}

// With two nodes out the job has another layout; with one out it has other replicas.
TEST_P(Modes, EachConversionIsOfTheLayoutsThatItIsBetween) {
  CampaignInputs inputs = two_tiers();
  inputs.nodes = 8;
  inputs.table.shrunk_iteration_s = {9, 8};
  inputs.table.shrunk_progress = {0.75, 0.5};
  inputs.table.shrunk_layout = {0, 1};
  inputs.table.relaid = {{}};
  inputs.table.tiers[1].reshape_s = 7;
  inputs.table.tiers[1].convert_s = 12;
  inputs.recovery.when_no_spare = WhenNoSpare::relayout;
  inputs.campaign.length_s = 290 + 12 + 7;
  FailureClass first = traced(FailureKind::node, {1});
  first.repair.fixed_s = 59;
  FailureClass second = traced(FailureKind::node, {2});
  second.repair.fixed_s = 153 + 12;
  inputs.failures = {first, second};
  expect_account(run_trial(inputs, 0, GetParam()),
                 {12, 288 + 12 + 7, (1 + 15) + (4 + 15) + 4 + 1, 1, 1 + 5, 30 + 62 + 57,
                  3 * (8 - 5) + 3 * (9 - 7.5), 0});
}

// A replica has three nodes. The first loss leaves two nodes of its replica idle, and one of them
// takes the place of the second lost node. So the copy needs no conversion, and the first node that
// returns does not make the job grow.
TEST_P(Modes, NodesOfABrokenReplicaReplaceOthers) {
  CampaignInputs inputs = two_tiers();
  inputs.nodes = 12;
  inputs.table.shrunk_iteration_s = {9, 9, 9, 8};
  inputs.table.shrunk_progress = {0.75, 0.75, 0.75, 0.5};
  inputs.table.tiers[1].reshape_s = 7;
  inputs.recovery.when_no_spare = WhenNoSpare::shrink;
  inputs.campaign.length_s = 400;
  FailureClass first = traced(FailureKind::node, {1});
  first.repair.fixed_s = 200;
  FailureClass second = traced(FailureKind::node, {2});
  second.repair.fixed_s = 153;
  inputs.failures = {first, second};
  std::vector<CampaignEvent> events;
  const TrialResult result = run_trial(inputs, 0, GetParam(), &events);
  std::vector<double> grown_s;
  for (const CampaignEvent& event : events) {
    if (event.kind == CampaignEvent::Kind::grown) grown_s.push_back(event.at_s);
  }
  ASSERT_EQ(grown_s.size(), 1u);
  EXPECT_GT(grown_s[0], 201);
  const double whole_s = result.at_size_s[size_class(1)];
  const double smaller_s = result.at_size_s[size_class(0.75)];
  EXPECT_GT(whole_s, 0);
  EXPECT_GT(smaller_s, 100);
  EXPECT_EQ(result.at_size_s[size_class(0.5)], 0);
  EXPECT_NEAR(result.lost_s[static_cast<int>(Loss::degraded)], smaller_s / 9 * (9 - 7.5),
              4 * (9 - 7.5));
}

TEST_P(Modes, TimedTiersCountFromTheirLastStartAndFromARestart) {
  CampaignInputs inputs;
  const SnapshotTier storage{.every_s = 25};
  inputs.table.tiers = {{storage, 2, 1}};
  inputs.table.iteration_s = {10, 12};
  inputs.recovery = {.detect_s = 1, .restart_s = 4};
  inputs.campaign = {200, 1, 1};
  inputs.failures = {traced(FailureKind::process, {100})};
  // Snapshots start at 30 (iteration 3), then at 30 + 12 + 2 x 10 = 62 (6) and 94 (9), which is
  // complete at 96. The job is down 100-106 and continues from 9: it trains 106-136 and starts
  // snapshots at 136 (12) and 168 (15); it ends at 200.
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {18, 200, 2 + 2 + 2 + 2, 6, 1, 5, 0, 0});
  EXPECT_EQ(result.snapshots, (std::vector<std::int64_t>{4}));
}

TEST_P(Modes, ATierSlowerThanItsPeriodSkipsTurns) {
  CampaignInputs inputs = two_tiers();
  inputs.table.tiers[0].tier.when_busy = WhenBusy::skip;
  inputs.table.tiers[0].complete_s = 35;  // 11 + 10 + 10 < 35 <= 11 + 10 + 10 + 10: every 4th
  inputs.campaign.length_s = 10 * 20 + 4 * 4;
  const TrialResult result = run_trial(inputs, 0, GetParam());
  EXPECT_EQ(result.iterations, 20);
  EXPECT_EQ(result.snapshots, (std::vector<std::int64_t>{4, 4}));
  EXPECT_EQ(result.skipped_snapshots, (std::vector<std::int64_t>{4, 0}));
}

// A snapshot is due every second iteration, stalls for 1 s and is complete after 35 s, so training
// waits 14 s for each. Snapshots start at 20, 55 and 90 s; the failure at 96 s goes back to
// iteration 4. Training resumes at 102 s, and a snapshot of iteration 6 starts at 122 s.
TEST_P(Modes, TrainingWaitsForATierSlowerThanItsPeriod) {
  CampaignInputs inputs;
  inputs.table.iteration_s = {10, 11};
  inputs.table.tiers = {{{.mode = SnapshotMode::async, .every_iterations = 2}, 35, 3}};
  inputs.recovery = {.detect_s = 1, .restart_s = 2};
  inputs.failures = {traced(FailureKind::process, {96})};
  inputs.campaign.length_s = 157;
  const TrialResult result = run_trial(inputs, 0, GetParam());
  expect_account(result, {8, 157, 45, 26, 1, 5, 0, 0});
  EXPECT_EQ(result.skipped_snapshots, (std::vector<std::int64_t>{0}));
  // In a queue each snapshot takes the writer 34 s, from 20 s on, and is complete only 34 s after
  // the next one starts: at this failure none is complete.
  inputs.table.tiers[0].tier.when_busy = WhenBusy::queue;
  inputs.failures = {traced(FailureKind::process, {87})};
  inputs.campaign.length_s = 93 + 20;
  const TrialResult queued = run_trial(inputs, 0, GetParam());
  EXPECT_EQ(queued.iterations, 2);
  EXPECT_EQ(queued.restored_from, (std::vector<std::int64_t>{0, 1}));
  // At 88 s the snapshot of iteration 2 is complete.
  inputs.failures = {traced(FailureKind::process, {88.5})};
  EXPECT_EQ(run_trial(inputs, 0, GetParam()).restored_from, (std::vector<std::int64_t>{1, 0}));
}

// In every single trial with equal failures a slower writer completes no copy and no iteration
// earlier.
TEST(Campaign, ASlowerWriterNeverGivesBetterGoodput) {
  int slower = 0;
  for (std::uint64_t index = 0; index < 400; ++index) {
    CampaignInputs inputs = random_plain_campaign(index);
    if (inputs.table.tiers.empty()) continue;
    RandomStream random(5, RandomPurpose::test, index);
    inputs.table.tiers.resize(1);
    TierTiming& timing = inputs.table.tiers[0];
    timing.tier = {.mode = SnapshotMode::async,
                   .when_busy = random.below(2) == 0 ? WhenBusy::block : WhenBusy::queue,
                   .every_iterations = 1 + static_cast<int>(random.below(8))};
    inputs.table.iteration_s.resize(2);
    const double stall_s = inputs.table.iteration_s[1] - inputs.table.iteration_s[0];
    timing.complete_s = stall_s * 1.01;
    timing.restore_s = 0;  // nor does a restart without a copy load
    inputs.recovery.when_no_spare = WhenNoSpare::wait;
    std::erase_if(inputs.failures, [](const FailureClass& failure_class) {
      return failure_class.kind == FailureKind::planned;
    });
    double useful_s = kInfinity;
    for (int times = 0; times < 6; ++times) {
      timing.complete_s *= 1 + 3 * random.uniform();
      const TrialResult result = run_trial(inputs, 0, CampaignMode::fast_forward);
      // Results may differ by the iteration that the end of the campaign cuts.
      EXPECT_LE(result.useful_s, useful_s + inputs.table.iteration_s[0]) << index;
      slower += result.useful_s < 0.9 * useful_s ? 1 : 0;
      useful_s = std::min(useful_s, result.useful_s);
    }
  }
  EXPECT_GT(slower, 200);
}

TEST_P(Modes, NoFailureLeavesPlainAndStall) {
  CampaignInputs inputs = two_tiers();
  inputs.table.tiers.pop_back();
  inputs.table.iteration_s = {0.1, 0.13};
  inputs.table.tiers[0].tier.every_iterations = 10;
  inputs.table.tiers[0].complete_s = 0.5;
  inputs.campaign.length_s = 1e5 * 0.1 + 9999 * (0.13 - 0.1) + 1e-6;
  const TrialResult result = run_trial(inputs, 0, GetParam());
  EXPECT_EQ(result.iterations, 100000);
  EXPECT_DOUBLE_EQ(result.useful_s / result.wall_s,
                   (1e5 * 0.1) / (1e5 * 0.1 + 9999 * (0.13 - 0.1)));
  EXPECT_EQ(result.lost_s[static_cast<int>(Loss::redo)], 0);
}

INSTANTIATE_TEST_SUITE_P(Campaign, Modes,
                         ::testing::Values(CampaignMode::fast_forward, CampaignMode::replay),
                         [](const auto& mode) {
                           return mode.param == CampaignMode::replay ? "replay" : "fast_forward";
                         });

// --- many trials

CampaignInputs with_rates(double process_per_s, double node_per_s) {
  CampaignInputs inputs = two_tiers();
  inputs.nodes = 10;
  inputs.campaign = {20000, 50, 3};
  inputs.recovery.spares = 1;
  FailureClass process;
  process.name = "crash";
  process.kind = FailureKind::process;
  process.rate_per_node_s = process_per_s / inputs.nodes;
  FailureClass node;
  node.name = "gpu";
  node.rate_per_node_s = node_per_s / inputs.nodes;
  node.arrivals = Arrivals::weibull;
  node.weibull_shape = 0.7;
  node.repair.fixed_s = 700;
  inputs.failures = {process, node, traced(FailureKind::planned, {5000, 15000})};
  inputs.tokens = 1e6;
  inputs.tokens_per_iteration = 100;
  inputs.price_usd_per_s = 2;
  return inputs;
}

std::vector<Estimate> all_estimates(const CampaignReport& report) {
  std::vector<Estimate> all = {report.goodput,     report.ettr,       report.wall_s,
                               report.useful_s,    report.nodes_down, report.job_days,
                               report.job_cost_usd};
  for (const Estimate& lost_s : report.lost_s) all.push_back(lost_s);
  for (const auto* map : {&report.failures, &report.survival, &report.skipped_snapshots}) {
    for (const auto& [name, value] : *map) all.push_back(value);
  }
  return all;
}

TEST(Campaign, AnyNumberOfThreadsGivesTheSameBytes) {
  const CampaignInputs inputs = with_rates(1e-3, 1e-3);
  const std::vector<Estimate> one = all_estimates(run_campaign(inputs, 1));
  EXPECT_EQ(one, all_estimates(run_campaign(inputs, 2)));
  EXPECT_EQ(one, all_estimates(run_campaign(inputs, 7)));
  CampaignInputs other = inputs;
  other.campaign.seed = 4;
  EXPECT_NE(one, all_estimates(run_campaign(other, 1)));
}

TEST(Campaign, ReportAddsUp) {
  const CampaignReport report = run_campaign(with_rates(1e-3, 1e-3), 2);
  EXPECT_EQ(report.trials, 50);
  double sum_s = report.useful_s.mean;
  for (const Estimate& lost_s : report.lost_s) {
    sum_s += lost_s.mean;
  }
  EXPECT_NEAR(sum_s, report.wall_s.mean, 1e-9 * sum_s);
  EXPECT_EQ(report.failures.at("planned").mean, 2);
  EXPECT_DOUBLE_EQ(report.failures.at("unexpected").mean,
                   report.failures.at("crash").mean + report.failures.at("gpu").mean);
  EXPECT_NEAR(report.survival.at("host-memory").mean + report.survival.at("storage").mean +
                  report.survival.at("none").mean,
              1, 1e-12);
  EXPECT_LT(report.goodput.low, report.goodput.mean);
  EXPECT_LT(report.goodput.p05, report.goodput.low);
  EXPECT_GT(report.ettr.mean, report.goodput.mean);
  EXPECT_DOUBLE_EQ(report.job_cost_usd.mean, report.job_days.mean * 86400 * 2);
}

TEST(Campaign, DaysToTrainAreThoseAtTheGoodput) {
  CampaignInputs inputs = with_rates(1e-3, 1e-3);
  inputs.campaign.trials = 1;
  const CampaignReport report = run_campaign(inputs, 1);
  // Such a job runs 10,000 iterations of 10 s at this goodput.
  EXPECT_DOUBLE_EQ(report.job_days.mean, 1e5 / report.goodput.mean / 86400);
  EXPECT_LT(report.goodput.mean, 1);
}

// The share of failures that host memory serves has a closed form. It serves a crash if it holds a
// copy. A node failure destroys the copy; host memory is filled again if nothing fails until the
// job is down (5 + 30 + 20 s, from storage), has run two iterations and completed the copy started
// then (20 + 4 s). That has chance p = e^(-79 / M). So from failure to failure a copy is there with
// chance h = h c + (1 - h c) p, where c is the share of crashes; crashes that find a copy are h c
// of all failures.
TEST(Campaign, HostMemoryServesCrashesOnceItIsFilled) {
  CampaignInputs inputs = with_rates(2e-3, 3e-3);
  inputs.failures.pop_back();
  inputs.failures[1].arrivals = Arrivals::exponential;
  inputs.recovery.spares = 1000;
  inputs.campaign = {2e6, 40, 1};
  const double crashes = 2e-3 / 5e-3;
  const double filled = std::exp(-79 * 5e-3);
  const double expected = crashes * filled / (1 - crashes * (1 - filled));
  const Estimate share = run_campaign(inputs, 2).survival.at("host-memory");
  const double error = std::sqrt(expected / (40 * 2e6 * 5e-3));  // upper bound for the mean
  EXPECT_NEAR(share.mean, expected, 4 * error);
  EXPECT_LT(4 * error, 0.02 * expected);
}

TEST(Campaign, RareFailuresCostNothingFrequentOnesEverything) {
  const double none = run_campaign(with_rates(0, 0), 1).goodput.mean;
  EXPECT_NEAR(run_campaign(with_rates(1e-9, 1e-9), 1).goodput.mean, none, 1e-4);
  const CampaignReport hopeless = run_campaign(with_rates(1, 1), 1);
  EXPECT_LT(hopeless.goodput.mean, 1e-3);
  EXPECT_TRUE(std::isinf(hopeless.job_days.mean));
}

// The number of nodes that are down is that of busy servers in an M/G/infinity queue: Poisson with
// mean rate x repair time (Takacs).
TEST(Campaign, NodesDownAreRateTimesRepair) {
  CampaignInputs inputs = with_rates(0, 0);
  inputs.failures[1].arrivals = Arrivals::exponential;
  inputs.failures[1].rate_per_node_s = 2e-3 / inputs.nodes;
  inputs.failures[1].repair.empirical_s = {100, 300, 2000};
  inputs.campaign = {2e6, 40, 1};
  inputs.recovery.spares = 100;
  const CampaignReport report = run_campaign(inputs, 2);
  const double expected = 2e-3 * 800;
  EXPECT_NEAR(report.nodes_down.mean, expected, 0.01 * expected);
  EXPECT_LE(report.nodes_down.high - report.nodes_down.low, 0.02 * expected);
  EXPECT_EQ(report.lost_s[static_cast<int>(Loss::wait)].mean, 0);
  // If more nodes are down than there are spares, the job waits.
  inputs.recovery.spares = 1;
  EXPECT_GT(run_campaign(inputs, 2).lost_s[static_cast<int>(Loss::wait)].mean, 1e5);
}

// Llama 3 405B met 419 unexpected interruptions on 2,048 nodes in 54 days.
TEST(Campaign, MeanFailuresAreThoseOfTheRates) {
  CampaignInputs inputs = two_tiers();
  inputs.nodes = 2048;
  inputs.campaign = {54 * 86400.0, 200, 1};
  FailureClass node;
  node.name = "node";
  node.rate_per_node_s = 3.24e-3 / 86400;
  node.arrivals = Arrivals::weibull;
  node.weibull_shape = 0.7;
  FailureClass process;
  process.name = "process";
  process.kind = FailureKind::process;
  process.rate_per_node_s = 0.55e-3 / 86400;
  inputs.failures = {node, process};
  EXPECT_NEAR(run_campaign(inputs).failures.at("unexpected").mean, 419, 0.02 * 419);
}

TEST(Campaign, WhatCannotBeIsAnError) {
  CampaignInputs inputs = two_tiers();
  inputs.campaign.trials = 0;  // no key can set this or the next value
  EXPECT_THROW(run_campaign(inputs), InternalError);
  inputs = two_tiers();
  inputs.campaign.length_s = 0;
  EXPECT_THROW(run_campaign(inputs), InternalError);
  inputs = two_tiers();
  inputs.failures.resize(1);
  inputs.failures[0].rate_per_node_s = -1;
  EXPECT_THROW(run_campaign(inputs), Error);
  inputs = two_tiers();
  inputs.table.tiers.resize(5, inputs.table.tiers[0]);
  EXPECT_THROW(run_campaign(inputs), Error);
  inputs = two_tiers(false);
  inputs.table.tiers.pop_back();
  inputs.table.iteration_s.resize(2);
  inputs.failures = {traced(FailureKind::process, {100})};
  EXPECT_NO_THROW(run_campaign(inputs));
  inputs.failures.push_back(traced(FailureKind::planned, {100}));
  EXPECT_THROW(run_campaign(inputs), Error);
  inputs = two_tiers();
  inputs.table.iteration_s.pop_back();
  EXPECT_THROW(run_campaign(inputs), InternalError);
}

TEST(Campaign, LayoutsAndIslandsThatCannotBeAreErrors) {
  const auto shrunk = [](std::vector<int> layouts) {
    CampaignInputs inputs = two_tiers();
    inputs.table.shrunk_iteration_s = {9};
    inputs.table.shrunk_progress = {0.75};
    inputs.table.relaid = {{}};
    inputs.table.shrunk_layout = std::move(layouts);
    return inputs;
  };
  EXPECT_NO_THROW(run_campaign(shrunk({})));
  EXPECT_NO_THROW(run_campaign(shrunk({1})));
  EXPECT_THROW(run_campaign(shrunk({2})), InternalError);
  EXPECT_THROW(run_campaign(shrunk({-1})), InternalError);
  EXPECT_THROW(run_campaign(shrunk({0, 1})), InternalError);
  const auto islands = [](double pace, int far_modules) {
    CampaignInputs inputs = two_tiers();
    inputs.nodes = 4;
    inputs.table.islands = {
        .of_node = {0, 1, 2, 3}, .count = 4, .levels = {{4, 10}}, .smaller_pace = {pace}};
    inputs.table.islands.far_modules = far_modules;
    return inputs;
  };
  EXPECT_NO_THROW(run_campaign(islands(1, 2)));
  EXPECT_THROW(run_campaign(islands(0.9, 2)), InternalError);
  EXPECT_THROW(run_campaign(islands(std::nan(""), 0)), InternalError);
  EXPECT_THROW(run_campaign(islands(1, 3)), InternalError);
}

}  // namespace
}  // namespace windtunnel
