#include "models/power/power_report.hpp"

#include <gtest/gtest.h>

#include "tests/models/power/watts.hpp"

namespace windtunnel {
namespace {

// A step on two nodes of two GPUs. Ranks 0 and 2 compute in [0, 4), ranks 1 and 3 in [from_s,
// from_s + 4).
struct Step {
  Cluster cluster;
  Plan plan;
  Timeline timeline;
  PowerSpec spec;
};

Step step_of(double from_s, bool nodes_alike) {
  Step step;
  step.cluster.nodes = 2;
  step.cluster.node.gpus = 2;
  step.cluster.node.nics = 1;
  step.plan.ranks = 4;
  RankClass& all = step.plan.classes.emplace_back();
  all.members = {0, 1, 2, 3};
  all.tasks.emplace_back().cost = {{Category::forward, Origin::assumed, 4}};
  step.timeline.ranks = {{.rank = 0, .multiplicity = 2, .spans = {{0, 4}}},
                         {.rank = 1, .multiplicity = 2, .spans = {{from_s, from_s + 4}}}};
  step.timeline.recorded_as = nodes_alike ? std::vector{0, 1, 0, 1} : std::vector{0, 0, 1, 1};
  step.spec.nodes.push_back({watts(500), watts(100), watts(200)});
  step.spec.switch_W = 10;
  step.spec.storage_W = 30;
  step.spec.pue = 1.5;
  step.spec.rack_nodes = 2;
  step.spec.usd_per_kWh = 0.1;
  return step;
}

PowerReport report_of(const Step& step) {
  return PoweredStep(step.cluster, step.plan, step.timeline, 0, 8).report(step.spec);
}

TEST(PowerReport, ByHand) {
  PowerReport report = report_of(step_of(4, true));
  EXPECT_NEAR(report.node.peak_W, 200 + 500 + 100, 1e-9);  // the GPUs compute in turn
  EXPECT_NEAR(report.rack.peak_W, 1600, 1e-9);
  EXPECT_NEAR(report.cluster.peak_W, 1650, 1e-9);
  EXPECT_NEAR(report.cluster.least_W, 1650, 1e-9);
  EXPECT_NEAR(report.cluster.energy_J, 8 * 1650, 1e-9);
  EXPECT_NEAR(report.idle_W, 2 * 400 + 50, 1e-9);
  EXPECT_NEAR(report.aligned, 1, 1e-12);
  add_energy(report, 8, 100, 1e6);
  EXPECT_NEAR(report.step_J, 1.5 * 8 * 1650, 1e-9);
  EXPECT_NEAR(report.token_J, report.step_J / 100, 1e-9);
  EXPECT_NEAR(report.undisturbed_J, report.step_J * 1e4, 1e-3);
  EXPECT_NEAR(report.usd_of(3.6e6), 0.1, 1e-12);
}

TEST(PowerReport, PeaksOfNodesThatTakeTurnsDoNotAdd) {
  const PowerReport turns = report_of(step_of(4, false));
  EXPECT_NEAR(turns.node.peak_W, 1200, 1e-9);
  EXPECT_NEAR(turns.rack.peak_W, 1600, 1e-9);
  EXPECT_NEAR(turns.aligned, 1600.0 / 2400, 1e-12);
  const PowerReport in_phase = report_of(step_of(0, false));
  EXPECT_NEAR(in_phase.rack.peak_W, 2400, 1e-9);
  EXPECT_NEAR(in_phase.aligned, 1, 1e-12);
  EXPECT_NEAR(in_phase.cluster.energy_J, turns.cluster.energy_J, 1e-9);
}

TEST(PowerReport, GpusIdleInWhatACampaignWaits) {
  const Step step = step_of(4, true);
  PowerReport report = report_of(step);
  CampaignReport campaign;
  campaign.wall_s.mean = 100;
  campaign.lost_s[static_cast<int>(Loss::restart)].mean = 20;
  campaign.lost_s[static_cast<int>(Loss::redo)].mean = 30;  // repeated work computes
  campaign.job_days = {.mean = 2, .low = 1, .high = 3};
  add_campaign(report, campaign, step.cluster, 1);
  const double mean_W = 0.8 * 1650 + 0.2 * 850 + 400;  // one spare node
  EXPECT_NEAR(*report.campaign_W, mean_W, 1e-9);
  ASSERT_TRUE(report.run);
  EXPECT_NEAR(report.run->energy_J.mean, 2 * 86400 * 1.5 * mean_W, 1e-3);
  EXPECT_NEAR(report.run->energy_J.high, 3 * 86400 * 1.5 * mean_W, 1e-3);
  EXPECT_NEAR(report.run->usd.low, 86400 * 1.5 * mean_W / 3.6e6 * 0.1, 1e-9);
}

}  // namespace
}  // namespace windtunnel
