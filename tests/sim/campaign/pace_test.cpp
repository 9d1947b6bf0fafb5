// Tests compare pauses for evaluation and logging with accounts worked out by hand and with their
// expected share.
#include "sim/campaign/pace.hpp"

#include <gtest/gtest.h>

#include "tests/sim/campaign/by_hand.hpp"

namespace windtunnel {
namespace {

using by_hand::traced;
using PausesOf = ::testing::TestWithParam<CampaignMode>;

// An evaluation of 7 s follows iterations 10, 20, ...; logs follow every 42 s of training, which is
// rounded to 4 iterations.
TEST_P(PausesOf, PausesAreLossesOfTheirOwn) {
  CampaignInputs inputs;
  inputs.table.iteration_s = {10};
  inputs.table.pauses = {.evaluation = {.every_iterations = 10, .takes_s = 7},
                         .logging = {.every_s = 42, .takes_s = 0.5}};
  inputs.campaign.length_s = 101 * 10 + 10 * 7 + 25 * 0.5;
  const TrialResult result = run_trial(inputs, 0, GetParam());
  EXPECT_EQ(result.iterations, 101);  // 0 to 100
  EXPECT_DOUBLE_EQ(result.wall_s, inputs.campaign.length_s);
  EXPECT_DOUBLE_EQ(result.useful_s, 1010);
  EXPECT_DOUBLE_EQ(result.lost_s[static_cast<int>(Loss::evaluate)], 70);
  EXPECT_DOUBLE_EQ(result.lost_s[static_cast<int>(Loss::log)], 12.5);
}

// Iterations that are redone are evaluated again.
TEST_P(PausesOf, AFailureWithinAPauseLosesTheIterationBefore) {
  CampaignInputs inputs;
  inputs.table.iteration_s = {10};
  inputs.table.pauses.evaluation = {.every_iterations = 2, .takes_s = 5};
  inputs.recovery = {.detect_s = 1, .restart_s = 3};
  // Iterations 0, 1 and 2 end at 30 s; the evaluation behind 2 would end at 35 s.
  inputs.failures = {traced(FailureKind::process, {32})};
  inputs.campaign.length_s = 36 + 35;
  const TrialResult result = run_trial(inputs, 0, GetParam());
  EXPECT_EQ(result.iterations, 3);
  EXPECT_DOUBLE_EQ(result.lost_s[static_cast<int>(Loss::evaluate)], 5);
  EXPECT_DOUBLE_EQ(result.lost_s[static_cast<int>(Loss::redo)], 32);
  EXPECT_DOUBLE_EQ(result.lost_s[static_cast<int>(Loss::restart)], 3);
}

INSTANTIATE_TEST_SUITE_P(Campaign, PausesOf,
                         ::testing::Values(CampaignMode::fast_forward, CampaignMode::replay),
                         [](const auto& mode) {
                           return mode.param == CampaignMode::replay ? "replay" : "fast_forward";
                         });

TEST(Pace, TellsWhatPausesLeave) {
  IterationTable table;
  table.iteration_s = {10};
  EXPECT_EQ(Pace(table, 10, {}).training_share(), 1);
  table.pauses.evaluation = {.every_iterations = 10, .takes_s = 20};
  table.pauses.logging = {.every_s = 50, .takes_s = 5};
  EXPECT_DOUBLE_EQ(Pace(table, 10, {}).training_share(), 10 / (10 + 2 + 1.0));
}

// A snapshot that stalls training for longer than its interval is due again after one iteration.
TEST(Pace, TrainsForAnIterationAtLeastBetweenSnapshots) {
  const Cadence timed{.every_s = 100};
  EXPECT_DOUBLE_EQ(timed.training_s(10, 5), 100);
  EXPECT_DOUBLE_EQ(timed.training_s(10, 20), 80);
  EXPECT_DOUBLE_EQ(timed.training_s(10, 100), 10);
  EXPECT_DOUBLE_EQ(timed.training_s(10, 500), 10);
  EXPECT_DOUBLE_EQ(timed.training_s(100. / 3, 0), 100) << "rounding makes no iteration more";
  EXPECT_DOUBLE_EQ((Cadence{.every_iterations = 7}.training_s(10, 500)), 70);
  EXPECT_FALSE(Cadence{}.is_running());
}

// A snapshot every 2 iterations of 10 s stalls for 1 s and is complete after 35 s, but one is due
// every 21 s. Either every other snapshot is skipped, or each waits 14 s for the writer, or they
// queue: the writer then takes 34 s for each, and a copy is complete two snapshots after it
// started.
TEST(Pace, ASlowWriterMakesTrainingGiveWay) {
  IterationTable table;
  table.iteration_s = {10, 11};
  table.tiers = {{{.mode = SnapshotMode::async, .every_iterations = 2}, 35}};
  const auto with = [&](WhenBusy when_busy) {
    table.tiers[0].tier.when_busy = when_busy;
    return Pace(table, 10, {1});
  };
  const Pace skips = with(WhenBusy::skip);
  EXPECT_EQ(skips.cadence(0).turns, 2);
  EXPECT_EQ(skips.cadence(0).every_iterations, 4);
  EXPECT_EQ(skips.stall_s(1), 1);
  const Pace blocks = with(WhenBusy::block);
  EXPECT_EQ(blocks.cadence(0).every_iterations, 2);
  EXPECT_EQ(blocks.cadence(0).turns, 1);
  EXPECT_DOUBLE_EQ(blocks.stall_s(1), 1 + 14);
  EXPECT_EQ(blocks.cadence(0).complete_s, 35);
  const Pace queues = with(WhenBusy::queue);
  EXPECT_DOUBLE_EQ(queues.stall_s(1), 1 + 13);
  EXPECT_DOUBLE_EQ(queues.cadence(0).complete_s, 68);
  EXPECT_EQ(queues.cadence(0).queued, 1);
  // If the writer finishes in time, all three policies are equal.
  table.tiers[0].complete_s = 21;
  for (const WhenBusy when_busy : {WhenBusy::skip, WhenBusy::queue, WhenBusy::block}) {
    const Pace in_time = with(when_busy);
    EXPECT_EQ(in_time.cadence(0).every_iterations, 2);
    EXPECT_EQ(in_time.stall_s(1), 1);
    EXPECT_EQ(in_time.cadence(0).complete_s, 21);
  }
}

// In a tier by time, "every 18 s" means after two iterations.
TEST(Pace, ASlowWriterOfATierByTimeIsWaitedFor) {
  IterationTable table;
  table.iteration_s = {10, 11};
  table.tiers = {{{.mode = SnapshotMode::async, .every_s = 18}, 35}};
  const Pace pace(table, 10, {1});
  EXPECT_DOUBLE_EQ(pace.stall_s(1), 1 + 14);
  EXPECT_DOUBLE_EQ(pace.cadence(0).training_s(10, pace.stall_s(1)), 20);
}

}  // namespace
}  // namespace windtunnel
