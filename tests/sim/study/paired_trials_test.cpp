#include "sim/study/paired_trials.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/sim/study/crashing_inputs.hpp"

namespace windtunnel {
namespace {

TEST(PairedTrials, AllOfASmallJobAreTheCampaignItself) {
  const CampaignInputs inputs = crashing_inputs(60);
  const CampaignReport report = run_campaign(inputs);
  ASSERT_EQ(paired_trials(report), 40);  // about 180 failures each
  EXPECT_EQ(paired_goodput(inputs, report, 40, 1), report.goodput);
}

// If each trial meets thousands of failures, only the trials that together meet a hundred thousand
// are paired, but at least eight.
TEST(PairedTrials, OfALargeJobAreFewer) {
  CampaignInputs inputs = crashing_inputs(1);
  inputs.recovery.restart_s = 1;
  inputs.failures[0].rate_per_node_s *= 50;
  const int fewer = paired_trials(run_campaign(inputs));
  EXPECT_GE(fewer, 9);
  EXPECT_LE(fewer, 14);
  inputs.failures[0].rate_per_node_s *= 3;
  EXPECT_EQ(paired_trials(run_campaign(inputs)), 8);
}

// A few paired trials predict other settings as well as all trials do.
TEST(PairedTrials, AFewTellWhatAllTell) {
  const CampaignInputs inputs = crashing_inputs(60);
  const CampaignReport report = run_campaign(inputs);
  EXPECT_NEAR(paired_goodput(inputs, report, 10, 1).mean, report.goodput.mean, 1e-12);
  CampaignInputs other = inputs;
  other.table.tiers[0].tier.every_iterations = 40;
  const double all = run_campaign(other).goodput.mean;
  const double changed = std::abs(all - report.goodput.mean);
  EXPECT_GT(changed, 0.01);
  EXPECT_NEAR(paired_goodput(other, report, 10, 1).mean, all, changed / 10);
}

// Trials without failures cannot give a slope, so the whole difference between their means counts.
TEST(PairedTrials, TrialsThatAreAlikeMoveByTheWholeDifference) {
  CampaignInputs inputs = crashing_inputs(60);
  inputs.failures.clear();
  CampaignReport report = run_campaign(inputs);
  const double same = report.goodput.mean;
  report.goodput.mean -= 0.125;  // as if other trials had failures
  EXPECT_NEAR(paired_goodput(inputs, report, 9, 1).mean, same - 0.125, 1e-12);
}

}  // namespace
}  // namespace windtunnel
