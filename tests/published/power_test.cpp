// Compares the published power of training with the power model.
//
// Fire-Flyer 2 (An et al., arXiv 2408.14158) states that its nodes of eight A100 PCIe cost and draw
// about 60 % of a DGX A100, at 83 % of its performance. Our inputs are not from the paper: the
// GPUs' limits of 250 and 400 W come from NVIDIA's data sheets, the rest of a node is summed over
// its parts (scenarios/library/power.yaml), and prices are kFireFlyerUsd and kDgxUsd.
//
// POLCA (Patel et al., arXiv 2308.12908): training GPUs reach their power limit in every iteration,
// and fall far below it when they synchronise, on all nodes at once; a cap lowers the peaks and
// leaves the troughs.
#include <gtest/gtest.h>

#include "models/power/power_report.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/library/facts/power_watts.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

// Trains with data parallelism only, and gradients after the backward pass, which gives two power
// phases.
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
  EXPECT_NEAR(fire_flyer.studies.find<PowerReport>()->node.peak_W /
                  dgx.studies.find<PowerReport>()->node.peak_W,
              0.6, 0.1);
}

// NVIDIA announced a DGX A100 of 320 GB at 199,000 USD on 14 May 2020. The price of a node of PCIe
// cards is assumed: eight cards of about 11,000 USD, and 22,000 USD for processors, memory, board
// and a NIC.
constexpr const char* kDgxUsd = "199000";
constexpr const char* kFireFlyerUsd = "110000";

// Pipelines run over NICs of four nodes or over PCIe, and HFReduce or NCCL reduces the gradients.
// The PCIe card has the die of the DGX's card and a limit of 250 W, which the model treats as a
// cap.
Record at_work(bool fire_flyer) {
  const std::string text =
      "name: power\nmodel: {base: llama3-8b, layers: 8}\n"
      "cluster: {nodes: 16, node: dgx-a100-40, power: {usd_per_kwh: 0.1, nic_usd: 3000}}\n"
      "layout: {sharding: zero1, pp: 4}\nbatch: {global: 256}\nschedule: 1f1b\n"
      "communication: {overlap: bucketed}\njob: {tokens: 1 T}\n";
  Overrides set = {{"cluster.power.node_usd", kDgxUsd}};
  if (fire_flyer) {
    set = {{"cluster.node", "fire-flyer-a100"},
           {"cluster.power.node_usd", kFireFlyerUsd},
           {"cluster.power.gpu_watts", "400"},
           {"cluster.power.cap_watts", "250"},
           {"communication.collectives", "{all_reduce: hfreduce}"}};
  }
  return simulate(parse_case(text, "power.yaml", set), {.allow_oom = true});
}

// Published: 83 % of the performance for 60 % of the price and of the power; with the network, half
// of the cost. The same work then takes 72 % of energy and cost. Missed: performance is 70 %. With
// a step of 256 sequences a replica has 8 micro-batches here, which are too few to hide a reduction
// of the gradients at 6 GB/s. The authors' batch is not known.
TEST(FireFlyer, CostsAndDrawsAsPublishedButWorksLess) {
  const Record own = at_work(true);
  const Record dgx = at_work(false);
  const PowerReport& a = *own.studies.find<PowerReport>();
  const PowerReport& b = *dgx.studies.find<PowerReport>();
  const double performance = dgx.iteration.time_s / own.iteration.time_s;
  fmt::print("performance {:.3f}, node {:.3f} mean {:.3f} peak, energy {:.3f}\n", performance,
             a.node.mean_W / b.node.mean_W, a.node.peak_W / b.node.peak_W, a.token_J / b.token_J);
  EXPECT_NEAR(performance, 0.704, 0.005);
  EXPECT_LT(performance, 0.83 - 0.1) << "no longer missed: say so in docs/physics/power.md";
  EXPECT_NEAR(a.node.mean_W / b.node.mean_W, 0.6, 0.1);
  const auto nodes_usd = [](const PowerReport& one) { return one.machines_usd - one.network_usd; };
  EXPECT_NEAR(nodes_usd(a) / nodes_usd(b), 0.6, 0.1);
  EXPECT_NEAR(a.machines_usd / b.machines_usd, 0.5, 0.1);
  EXPECT_NEAR(a.token_J / b.token_J, 0.6 / 0.83, 0.1);
  const auto token_usd = [](const PowerReport& one, const Record& record) {
    return one.owned_usd_per_s * record.iteration.time_s + one.usd_of(one.step_J);
  };
  fmt::print("machines {:.3f}, cost of the work {:.3f}\n", a.machines_usd / b.machines_usd,
             token_usd(a, own) / token_usd(b, dgx));
  EXPECT_NEAR(token_usd(a, own) / token_usd(b, dgx), 0.6 / 0.83, 0.1);
}

// Every figure with an interval must lie in its interval, whichever input is uncertain; inputs that
// the scenario states are certain.
TEST(Power, IntervalsHoldTheirValue) {
  const Record record = trained("dgx-a100");
  const PowerReport& power = *record.studies.find<PowerReport>();
  ASSERT_EQ(power.at_low.size(), power.at_high.size());
  ASSERT_GT(power.at_low.size(), 4U);
  for (std::size_t i = 0; i < power.at_low.size(); ++i) {
    EXPECT_LE(power.at_low[i].step_J, power.step_J * (1 + 1e-12)) << i;
    EXPECT_GE(power.at_high[i].step_J, power.step_J * (1 - 1e-12)) << i;
  }
  const std::string watts = fmt::format("{}", power.network_W / (4 * 8));
  const Record stated = trained("dgx-a100", {{"cluster.power.gpu_watts", "400"},
                                             {"cluster.power.idle_watts", "60"},
                                             {"cluster.power.node_watts", "1300"},
                                             {"cluster.power.pue", "1.1"},
                                             {"cluster.power.communicating", "0.35"},
                                             {"cluster.power.switch_watts", watts},
                                             {"cluster.power.nic_usd", "3000"},
                                             {"cluster.power.years", "4"},
                                             {"cluster.power.node_usd", "199000"}});
  EXPECT_TRUE(stated.studies.find<PowerReport>()->at_low.empty());
  EXPECT_NEAR(stated.studies.find<PowerReport>()->step_J, power.step_J, 1e-9 * power.step_J);
}

// Rail-only networks (Wang et al., arXiv 2307.12169) save 38 to 77 % of the network's price and 37
// to 75 % of its power, if rails need two of three tiers or one. The switches alone fall by 2/5 and
// 4/5 and the cables by 1/3 and 2/3, so that any mix of both prices lies between; watts are from
// data sheets.
TEST(RailOnly, CostsAndDrawsLessAsPublished) {
  const auto network = [](const char* fabric, int nodes) {
    const std::string text = fmt::format(
        "name: rails\nmodel: {{base: llama3-8b, layers: 1}}\ncluster: {{nodes: {}, node: {{base: "
        "dgx-h100, gpus: 256, nics: 256}}, fabric: {}, power: {{}}}}\nlayout: {{tp: 8}}\nbatch: "
        "{{global: {}}}\n",
        nodes, fabric, 32 * nodes);
    const Job job = parse_case(text, "rails.yaml").job;
    const NetworkKit kit = network_kit_of(job.cluster);
    const NetworkParts parts = network_parts(job.cluster, kit, nodes);
    return std::pair{network_usd(parts, kit), network_watts(parts, kit)};
  };
  const auto [joined_usd, joined_W] = network("full-bisection", 128);
  const auto [rails_usd, rails_W] = network("rail-only-h100", 128);
  fmt::print("two of three tiers: price -{:.1f} %, power -{:.1f} %\n",
             100 * (1 - rails_usd / joined_usd), 100 * (1 - rails_W / joined_W));
  EXPECT_NEAR(1 - rails_usd / joined_usd, 0.38, 0.03);
  EXPECT_NEAR(1 - rails_W / joined_W, 0.37, 0.01);
  // 64 nodes need one tier, where the Clos network has two tiers and half of the price of the
  // larger one.
  const auto [one_usd, one_W] = network("rail-only-h100", 64);
  fmt::print("one of three tiers: price -{:.1f} %, power -{:.1f} %\n",
             100 * (1 - 2 * one_usd / joined_usd), 100 * (1 - 2 * one_W / joined_W));
  EXPECT_NEAR(1 - 2 * one_usd / joined_usd, 0.77, 0.05);
  EXPECT_NEAR(1 - 2 * one_W / joined_W, 0.75, 0.02);
}

// The network's price and power follow its topology.
TEST(RailOnly, ThePowerStudyCountsIt) {
  const auto report = [](const char* fabric) {
    return *trained("dgx-h100",
                    {{"cluster.fabric", fabric}, {"cluster.nodes", "32"}, {"batch.global", "32"}})
                .studies.find<PowerReport>();
  };
  const PowerReport joined = report("full-bisection");
  const PowerReport rails = report("rail-only-h100");
  EXPECT_EQ(joined.network.switches, 12);
  EXPECT_EQ(rails.network.switches, 4);  // rails of 32 share a switch in pairs
  EXPECT_LT(rails.network_usd, joined.network_usd);
  EXPECT_NEAR(joined.cluster.mean_W - rails.cluster.mean_W, joined.network_W - rails.network_W,
              1e-3 * joined.network_W);
}

// In POLCA training leaves no headroom, because its peaks coincide: a fifth more nodes are capped
// in every step.
TEST(Polca, TrainingLeavesNoHeadroom) {
  const Record record = trained("dgx-a100", {{"cluster.power.more_nodes", "0.2"}});
  ASSERT_TRUE(record.studies.find<PowerReport>()->row.has_value());
  const RowReport& row = *record.studies.find<PowerReport>()->row;
  EXPECT_LT(row.fitting, 1.05);
  EXPECT_GT(row.capped_share, 0.3);
  EXPECT_GT(row.slowdown, 1.02);
  EXPECT_TRUE(row.holds);
}

// If the same nodes run separate jobs, the troughs of one job compensate for peaks of another, so
// that more nodes fit. A larger row fits relatively more nodes, up to the ratio of a node's power
// limit to its mean power.
TEST(Polca, NodesInPhasesOfTheirOwnLeaveHeadroom) {
  const auto row = [](const char* nodes, const char* apart) {
    const Record record = trained("dgx-a100", {{"cluster.power.more_nodes", "0.2"},
                                               {"cluster.power.row_apart", apart},
                                               {"cluster.nodes", nodes},
                                               {"batch.global", nodes}});
    return *record.studies.find<PowerReport>();
  };
  const PowerReport together = row("16", "false");
  const PowerReport apart = row("16", "true");
  EXPECT_GT(apart.row->fitting, 1.1 * together.row->fitting);
  EXPECT_LT(apart.row->capped_share, together.row->capped_share);
  EXPECT_LE(apart.row->slowdown, together.row->slowdown);
  const PowerReport few = row("4", "true");
  EXPECT_LT(few.row->fitting, apart.row->fitting);
  const NodePower& node = apart.spec.of_pool(0);
  const double limit_W = 8 * node.gpu_W.value + node.rest_W.value;
  EXPECT_LT(apart.row->fitting, limit_W / apart.node.mean_W);
}

// Fire-Flyer's GPUs multiply at 83 % of the rate of a DGX's (220 and 263 TFLOP/s in fp16, recalled)
// with 250 instead of 400 W. The default of clock_power was chosen by this, so that it is no
// prediction. For the same work they take 0.59 / 0.83 of the energy.
TEST(FireFlyer, TheCapOfAPcieCardSlowsAsPublished) {
  const Record capped = trained("dgx-a100-40", {{"cluster.power.cap_watts", "250"}});
  EXPECT_NEAR(capped.studies.find<PowerReport>()->clock, 0.83, 0.02);
}

TEST(Polca, PeaksReachTheLimitAndAlignOverNodes) {
  const Record record = trained("dgx-a100");
  const PowerReport& power = *record.studies.find<PowerReport>();
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
    const PowerReport& power = *record.studies.find<PowerReport>();
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

// The energy of a step is the power of every GPU integrated over it, without folding.
TEST(Energy, IsTheIntegralOverAllRanks) {
  const Record record = trained("dgx-h100");
  const PowerReport& power = *record.studies.find<PowerReport>();
  const PowerSpec& spec = power.spec;
  const NodePower& node = spec.of_pool(0);
  double energy_J = 0;
  for (int rank = 0; rank < record.plan.ranks; ++rank) {
    const RankTimeline& own = record.timeline.ranks[record.timeline.recorded_as[rank]];
    const PowerCurve curve =
        gpu_curve(spec, node, activity_steps(record.plan.classes[own.rank_class], own));
    energy_J += range_of(curve, 0, record.iteration.time_s).energy_J;
  }
  energy_J += record.iteration.time_s * (4 * node.rest_W.value + power.network_W);
  EXPECT_NEAR(power.cluster.energy_J, energy_J, 1e-9 * energy_J);
  EXPECT_NEAR(power.step_J, spec.pue * energy_J, 1e-9 * power.step_J);
  EXPECT_NEAR(power.token_J * 4 * 8192, power.step_J, 1e-9 * power.step_J);
  EXPECT_NEAR(power.undisturbed_J, 1e12 * power.token_J, 1e-9 * power.undisturbed_J);
}

}  // namespace
}  // namespace windtunnel
