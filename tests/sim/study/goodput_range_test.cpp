#include "sim/study/goodput_range.hpp"

#include <gtest/gtest.h>

#include "tests/sim/study/crashing_inputs.hpp"

namespace windtunnel {
namespace {

TEST(GoodputRange, AllTimesAreScaledByOneFactor) {
  const IterationTable table = scaled(crashing_inputs(60).table, 1.5);
  EXPECT_EQ(table.iteration_s, (std::vector<double>{30, 75}));
  EXPECT_EQ(table.tiers[0].complete_s, 45);
  EXPECT_EQ(table.tiers[0].restore_s, 90);
  EXPECT_EQ(table.tiers[0].tier.every_iterations, 10);
}

// A failure loses half an interval, which is counted in iterations, and detection and restart,
// which do not depend on the cost model. So slower iterations lose more with each failure.
TEST(GoodputRange, SlowerIterationsLoseMoreWithEachFailure) {
  const CampaignInputs inputs = crashing_inputs(60);
  const CampaignReport report = run_campaign(inputs);
  const GoodputRange range = goodput_range(inputs, report, {1.5, 1.5});
  EXPECT_GT(range.if_faster, report.goodput.mean);
  EXPECT_LT(range.if_slower, report.goodput.mean);

  CampaignInputs slower = inputs;
  slower.table = scaled(inputs.table, 1.5);
  const Estimate direct = run_campaign(slower).goodput;  // all trials, not some in pairs
  EXPECT_NEAR(range.if_slower, direct.mean, (direct.high - direct.low) / 2);
}

TEST(GoodputRange, NothingChangesWithoutAnError) {
  const CampaignInputs inputs = crashing_inputs(60);
  const CampaignReport report = run_campaign(inputs);
  const GoodputRange range = goodput_range(inputs, report, {});
  EXPECT_DOUBLE_EQ(range.if_faster, report.goodput.mean);
  EXPECT_DOUBLE_EQ(range.if_slower, report.goodput.mean);
}

}  // namespace
}  // namespace windtunnel
