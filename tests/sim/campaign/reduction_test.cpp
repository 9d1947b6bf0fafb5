#include "sim/campaign/reduction.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

TrialResult trial(double useful_s, double wait_s, std::int64_t failures) {
  TrialResult result;
  result.wall_s = 100;
  result.useful_s = useful_s;
  result.lost_s[static_cast<int>(Loss::wait)] = wait_s;
  result.failures = {failures};
  result.restored_from = {failures};
  result.node_down_s = 50;
  return result;
}

// Two trials last 100 s: 80 and 60 s are useful, and for 20 s of the second one training was
// impossible. A job has a hundred iterations of 1 s.
TEST(Reduction, MeansOfTwoTrialsByHand) {
  CampaignInputs inputs;
  inputs.table.iteration_s = {1};
  inputs.failures.resize(1);
  inputs.failures[0].name = "node";
  inputs.campaign.length_s = 100;
  inputs.tokens_per_iteration = 10;
  inputs.tokens = 1000;
  inputs.price_usd_per_s = 2;
  const CampaignReport report = reduce(inputs, {trial(80, 0, 2), trial(60, 20, 4)});
  EXPECT_EQ(report.trials, 2);
  EXPECT_DOUBLE_EQ(report.goodput.mean, 0.7);
  EXPECT_EQ(report.trial_goodput, (std::vector<double>{0.8, 0.6}));
  EXPECT_DOUBLE_EQ(report.ettr.mean, (0.8 + 60.0 / 80) / 2);
  EXPECT_DOUBLE_EQ(report.nodes_down.mean, 0.5);
  EXPECT_DOUBLE_EQ(report.failures.at("node").mean, 3);
  EXPECT_DOUBLE_EQ(report.failures.at("unexpected").mean, 3);
  EXPECT_DOUBLE_EQ(report.failures.at("planned").mean, 0);
  EXPECT_DOUBLE_EQ(report.survival.at("none").mean, 1);
  // The job's length follows from the mean goodput; it is not the mean of 100 / 0.8 and 100 / 0.6.
  EXPECT_NEAR(report.job_days.mean, 100 / 0.7 / 86400, 1e-12);
  EXPECT_NEAR(report.job_cost_usd.mean, 2 * 100 / 0.7, 1e-9);
  EXPECT_NEAR(report.job_days.p95, 100 / report.goodput.p05 / 86400, 1e-12);
  EXPECT_LT(report.job_days.low, report.job_days.mean);
  EXPECT_GT(report.job_days.high, report.job_days.mean);
}

// Trials end with a whole iteration and so have unequal lengths. Shares are means over trials; mean
// seconds over mean wall time would be 140/220 and 80/220.
TEST(Reduction, UsefulAndLostSharesAddUpToTheWallTime) {
  CampaignInputs inputs;
  inputs.table.iteration_s = {1};
  inputs.failures.resize(1);
  inputs.campaign.length_s = 100;
  TrialResult longer = trial(60, 60, 1);
  longer.wall_s = 120;
  const CampaignReport report = reduce(inputs, {trial(80, 20, 1), longer});
  const Estimate& wait = report.lost[static_cast<int>(Loss::wait)];
  EXPECT_DOUBLE_EQ(report.goodput.mean, (0.8 + 0.5) / 2);
  EXPECT_DOUBLE_EQ(wait.mean, (0.2 + 0.5) / 2);
  EXPECT_DOUBLE_EQ(report.goodput.mean + wait.mean, 1);
  EXPECT_EQ(wait.high, 1);  // a share is at most 1
}

TEST(Reduction, WithoutProgressThereIsNoEnd) {
  CampaignInputs inputs;
  inputs.table.iteration_s = {1};
  inputs.campaign.length_s = 100;
  inputs.tokens_per_iteration = 10;
  inputs.tokens = 1000;
  EXPECT_TRUE(std::isinf(reduce(inputs, {trial(0, 100, 0), trial(0, 100, 0)}).job_days.mean));
  // One trial of two makes no progress: the mean length doubles, and the upper bound is infinite.
  const Estimate days = reduce(inputs, {trial(80, 0, 0), trial(0, 100, 0)}).job_days;
  EXPECT_NEAR(days.mean, 100 / 0.4 / 86400, 1e-12);
  EXPECT_TRUE(std::isinf(days.high));
}

}  // namespace
}  // namespace windtunnel
