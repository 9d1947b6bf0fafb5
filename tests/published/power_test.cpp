// What is published of the power of training, against the power model.
//
// Fire-Flyer 2 (An et al., arXiv 2408.14158) says of its nodes of eight A100 PCIe that they draw
// about 60 % of what a DGX A100 does. Inputs: limits of the GPUs from NVIDIA's data sheets, 250 and
// 400 W; the rest of a node is added up from its parts (scenarios/library/power.yaml), not taken
// from the paper. Its 60 % of the price rest on prices that are not published, and are no row here.
//
// POLCA (Patel et al., arXiv 2308.12908): GPUs that train reach their limit in every iteration, and
// fall far below it when all synchronise, all nodes at once; a cap lowers the peaks and leaves the
// troughs.
#include <gtest/gtest.h>

#include "models/power/power_report.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

// Data parallel alone, gradients behind the backward pass: two phases.
Record trained(const std::string& node, const Overrides& set = {}) {
  const std::string text =
      "name: power\nmodel: {base: llama3-8b, layers: 4}\n"
      "cluster: {nodes: 4, node: " +
      node +
      ", power: {usd_per_kwh: 0.1}}\n"
      "layout: {tp: 8, sequence_parallel: true}\nbatch: {global: 4}\n"
      "job: {tokens: 1 T}\n";
  return simulate(parse_case(text, "power.yaml", set), {});
}

TEST(FireFlyer, ANodeDrawsSixtyPercentOfADgxA100) {
  const Record fire_flyer = trained("fire-flyer-a100");
  const Record dgx = trained("dgx-a100-40");
  EXPECT_NEAR(fire_flyer.power->node.peak_W / dgx.power->node.peak_W, 0.6, 0.1);
}

// Its GPUs multiply at 83 % of the rate of a DGX's (220 and 263 TFLOP/s in fp16, as the paper is
// remembered), at 250 in the place of 400 W: what the default of clock_power rests on, so this is
// no prediction. Work for work it then takes 0.59 / 0.83 of the energy.
TEST(FireFlyer, TheCapOfAPcieCardSlowsAsPublished) {
  const Record capped = trained("dgx-a100-40", {{"cluster.power.cap_watts", "250"}});
  EXPECT_NEAR(capped.power->clock, 0.83, 0.02);
}

TEST(Polca, PeaksReachTheLimitAndAlignOverNodes) {
  const Record record = trained("dgx-a100");
  const PowerReport& power = *record.power;
  const NodePower& node = power.spec.of_pool(0);
  EXPECT_NEAR(power.node.peak_W, 8 * node.gpu_W.value + node.rest_W.value, 400);
  EXPECT_GT(power.aligned, 0.95);
  EXPECT_GT(1 - power.cluster.least_W / power.cluster.peak_W, 0.2);
  EXPECT_NEAR(power.rack.peak_W, 4 * power.node.peak_W, 1e-6 * power.rack.peak_W);
}

TEST(Polca, ACapLowersPeaksAndLeavesTroughs) {
  double last_s = 0;
  double last_W = 0;
  double trough_W = 0;
  for (const char* cap : {"400", "350", "300", "250", "200"}) {
    const Record record = trained("dgx-a100", {{"cluster.power.cap_watts", cap}});
    const PowerReport& power = *record.power;
    EXPECT_GE(record.iteration.time_s, last_s) << cap;
    if (last_W > 0) {
      EXPECT_LT(power.cluster.peak_W, last_W) << cap;
      EXPECT_NEAR(power.cluster.least_W, trough_W, 1e-6 * trough_W) << cap;
    }
    last_s = record.iteration.time_s;
    last_W = power.cluster.peak_W;
    trough_W = power.cluster.least_W;
  }
  EXPECT_GT(last_s, trained("dgx-a100").iteration.time_s);
}

// The energy of a step is what every GPU draws over it, added up without folding.
TEST(Energy, IsTheIntegralOverAllRanks) {
  const Record record = trained("dgx-h100");
  const PowerReport& power = *record.power;
  const PowerSpec& spec = power.spec;
  const NodePower& node = spec.of_pool(0);
  double energy_J = 0;
  for (int rank = 0; rank < record.plan.ranks; ++rank) {
    const RankTimeline& own = record.timeline.ranks[record.timeline.recorded_as[rank]];
    const PowerCurve curve = gpu_curve(spec, node, record.plan.classes[own.rank_class], own);
    energy_J += range_of(curve, 0, record.iteration.time_s).energy_J;
  }
  energy_J += record.iteration.time_s * 4 * (node.rest_W.value + 8 * spec.switch_W);
  EXPECT_NEAR(power.cluster.energy_J, energy_J, 1e-9 * energy_J);
  EXPECT_NEAR(power.step_J, spec.pue * energy_J, 1e-9 * power.step_J);
  EXPECT_NEAR(power.token_J * 4 * 8192, power.step_J, 1e-9 * power.step_J);
  EXPECT_NEAR(power.undisturbed_J, 1e12 * power.token_J, 1e-9 * power.undisturbed_J);
}

}  // namespace
}  // namespace windtunnel
