#include <gtest/gtest.h>

#include <algorithm>

#include "scenarios/language/case.hpp"
#include "scenarios/language/library/facts/power_watts.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

Case case_of(const std::string& power, const std::string& more = "") {
  return parse_case(
      "name: power\nmodel: llama3-8b\n"
      "cluster: {nodes: 2, node: dgx-h100" +
          power + "}\nlayout: {tp: 8}\nbatch: {global: 2}\n" + more,
      "power.yaml");
}

TEST(ResolvePower, NothingIsSaidUnlessAsked) {
  const Case plain = case_of("");
  EXPECT_FALSE(plain.asked.has<PowerSpec>());
  EXPECT_TRUE(std::ranges::none_of(plain.values, [](const ResolvedValue& value) {
    return value.key.starts_with("cluster.power");
  }));
}

TEST(ResolvePower, WattsOfTheLibraryAndDefaultsAreExplained) {
  const Case asked = case_of(", power: {pue: 1.2, idle_watts: 80}");
  ASSERT_TRUE(asked.asked.has<PowerSpec>());
  const NodePower& node = asked.asked.find<PowerSpec>()->of_pool(-1);
  EXPECT_EQ(node.gpu_W.value, 700);
  EXPECT_EQ(node.gpu_W.origin, Origin::spec);
  EXPECT_EQ(node.gpu_idle_W.value, 80);
  EXPECT_EQ(asked.asked.find<PowerSpec>()->pue, 1.2);
  const auto value_of = [&](std::string_view key) {
    const auto found = std::ranges::find(asked.values, key, &ResolvedValue::key);
    return found == asked.values.end() ? ResolvedValue{} : *found;
  };
  EXPECT_EQ(value_of("cluster.power.gpu_watts").value, "700");
  EXPECT_EQ(value_of("cluster.power.gpu_watts").origin, Origin::spec);
  EXPECT_EQ(value_of("cluster.power.node_watts").origin, Origin::published);
  EXPECT_TRUE(value_of("cluster.power.communicating").is_default);
  EXPECT_EQ(value_of("cluster.power.communicating").value, "0.35");
}

TEST(ResolvePower, ACapSlowsWhatArithmeticBinds) {
  const Case plain = case_of("");
  const Case capped = case_of(", power: {idle_watts: 100, cap_watts: 250, clock_power: 2}");
  EXPECT_DOUBLE_EQ(capped.job.calibration.kernel_sustained.value,
                   plain.job.calibration.kernel_sustained.value / 2);
  EXPECT_NE(capped.table, plain.table);
  const Case cheap = case_of(", power: {usd_per_kwh: 0.1}");
  const Case dear = case_of(", power: {usd_per_kwh: 0.2}");
  EXPECT_EQ(cheap.table, dear.table);
  EXPECT_NE(cheap.key, dear.key);
}

Case limited(const std::string& node, const std::string& power = "") {
  return parse_case("name: power\nmodel: llama3-8b\ncluster: {nodes: 2, node: {" + node + "}" +
                        power + "}\nlayout: {tp: 8}\nbatch: {global: 2}\n",
                    "power.yaml");
}

// Without a study of power, a node's power limit has the effect of an equal cap. A cap below the
// limit is relative to the limit.
TEST(ResolvePower, ALimitOfTheNodeLowersClocks) {
  const auto sustained = [](const Case& one) { return one.job.calibration.kernel_sustained.value; };
  const Case plain = limited("base: dgx-h100");
  const Case slow = limited("base: dgx-h100, power_limit: 350");
  EXPECT_FALSE(slow.asked.has<PowerSpec>());
  EXPECT_DOUBLE_EQ(sustained(slow),
                   sustained(limited("base: dgx-h100", ", power: {cap_watts: 350}")));
  EXPECT_LT(sustained(slow), sustained(plain));
  EXPECT_NE(slow.key, plain.key);
  const Case both = limited("base: dgx-h100, power_limit: 500", ", power: {cap_watts: 350}");
  EXPECT_DOUBLE_EQ(sustained(both), sustained(slow));
  EXPECT_EQ(both.asked.find<PowerSpec>()->of_pool(-1).gpu_W.value, 500);
}

TEST(ResolvePower, ALimitSlowsAttentionToo) {
  const Case plain = limited("base: dgx-b200");
  const Case slow = limited("base: dgx-b200, power_limit: 600");
  const Calibration& before = plain.job.calibration;
  const Calibration& after = slow.job.calibration;
  ASSERT_GT(before.attention_sustained.value, 0);
  EXPECT_DOUBLE_EQ(after.attention_sustained.value / before.attention_sustained.value,
                   after.kernel_sustained.value / before.kernel_sustained.value);
}

TEST(ResolvePower, RefusesLimitsThatAGpuHasNot) {
  EXPECT_TRUE(fails([] { limited("base: dgx-h100, power_limit: 60"); },
                    "power.yaml:3:57: cluster.node.power_limit: 60 W must be above the 75 W"));
  EXPECT_TRUE(fails([] { limited("base: dgx-h100, power_limit: 900"); },
                    "at most the 700 W of its data sheet"));
  EXPECT_TRUE(fails(
      [] {
        parse_case(
            "name: power\nmodel: bert-large\ncluster: {nodes: 2, node: {base: single-p102-100, "
            "power_limit: 100}}\nbatch: {global: 2}\nprecision: fp16\n",
            "power.yaml");
      },
      "the library has no power figures of p102-100"));
}

// A cap slows only that part of a measured product that scales with its operations; the parts of
// bytes and launch stay.
TEST(ResolvePower, ACapSlowsMeasuredProductsByTheirOperations) {
  const Case plain = case_of(", power: {idle_watts: 100, clock_power: 2}");
  PowerSpec capped = *plain.asked.find<PowerSpec>();
  capped.cap_W = 250;
  Job job = plain.job;
  job.calibration.kernel_laws.laws = {
      {.key = "gemm type=bf16", .fixed_s = 1, .flop_s = 2, .byte_s = 3}};
  lower_clocks(capped, job);
  const KernelLaw& law = job.calibration.kernel_laws.laws.front();
  EXPECT_DOUBLE_EQ(law.flop_s, 4);
  EXPECT_EQ(law.fixed_s, 1);
  EXPECT_EQ(law.byte_s, 3);
}

// Values that the scenario does not state count as uncertain.
TEST(ResolvePower, DefaultsAreUnsure) {
  const auto unsure = [](const std::string& keys) {
    return case_of(", power: {" + keys + "}").asked.find<PowerSpec>()->unsure.size();
  };
  EXPECT_EQ(unsure("rack_nodes: 2"), 3U);
  EXPECT_EQ(unsure("pue: 1.2"), 2U);
  EXPECT_EQ(unsure("pue: 1.2, communicating: 0.3, switch_watts: 40, node_usd: 1000, years: 3"), 0U);
}

// The kit has the slowest ports of the transport that are fast enough for the NIC.
TEST(ResolvePower, TheKitFitsTheNic) {
  const auto kit = [](const std::string& node, const std::string& fabric) {
    return network_kit_of(
               parse_case("name: power\nmodel: llama3-8b\ncluster: {nodes: 2, node: " + node +
                              ", fabric: " + fabric + "}\nlayout: {tp: 8}\nbatch: {global: 2}\n",
                          "power.yaml")
                   .job.cluster)
        .name;
  };
  EXPECT_EQ(kit("dgx-h100", "full-bisection"), "ndr");
  EXPECT_EQ(kit("dgx-a100", "full-bisection"), "hdr");
  EXPECT_EQ(kit("{base: dgx-h100, nic: 100 Gb/s}", "full-bisection"), "edr");
  EXPECT_EQ(kit("dgx-h100", "llama3-24k"), "ethernet-400");
  EXPECT_EQ(kit("{base: dgx-h100, nic: 25 Gb/s}", "llama3-24k"), "ethernet-25");
  EXPECT_EQ(kit("{base: dgx-h100, nic: 1600 Gb/s}", "full-bisection"), "xdr");
  EXPECT_EQ(kit("frontier-mi250x", "frontier"), "slingshot");
}

TEST(ResolvePower, RefusesPricesThatDoNothing) {
  EXPECT_TRUE(
      fails([] { case_of(", power: {years: 3}"); }, "has no effect without the price of a node"));
  const auto pools = [](const char* key) {
    return "name: power\nmodel: llama3-8b\ncluster: {pools: [{name: a, nodes: 1, node: dgx-h100}, "
           "{name: b, nodes: 1, node: dgx-a100}], power: {" +
           std::string(key) + "}}\nlayout: {tp: 8}\nbatch: {global: 2}\n";
  };
  for (const char* key : {"node_usd: 100", "more_nodes: 0.1"}) {
    EXPECT_TRUE(fails([&] { parse_case(pools(key), "power.yaml"); }, "this cluster has pools"));
  }
}

TEST(ResolvePower, ARowThatIsNotFullerHasNoPhases) {
  EXPECT_TRUE(fails([] { case_of(", power: {row_apart: true}"); },
                    "has no effect without more nodes in a row"));
}

TEST(ResolvePower, Refuses) {
  EXPECT_TRUE(fails([] { case_of(", power: {cap_watts: 60}"); },
                    "power.yaml:3:56: cluster.power.cap_watts: must be above the 75 W"));
  EXPECT_TRUE(fails([] { case_of(", power: {gpu_watts: 50}"); }, "W; the limit must be higher"));
  EXPECT_TRUE(fails(
      [] {
        parse_case(
            "name: power\nmodel: bert-large\ncluster: {nodes: 2, node: single-p102-100, "
            "power: {pue: 1.2}}\nbatch: {global: 2}\nprecision: fp16\n",
            "power.yaml");
      },
      "the library has no power figures of p102-100; state gpu_watts and idle_watts"));
  EXPECT_TRUE(fails(
      [] {
        parse_case(
            "name: power\nmodel: llama3-8b\ncluster: {pools: [{name: a, nodes: 1, node: "
            "dgx-h100}, {name: b, nodes: 1, node: dgx-a100}], power: {gpu_watts: 500}}\n"
            "layout: {tp: 8}\nbatch: {global: 2}\n",
            "power.yaml");
      },
      "applies to nodes of one kind"));
}

TEST(PowerWatts, OfTheLibraryAreInOrder) {
  int known = 0;
  for (const GpuSpec& gpu : library_gpus()) {
    const std::optional<GpuWatts> watts = watts_of_gpu(gpu.name);
    if (!watts) continue;
    ++known;
    EXPECT_LT(watts->idle_W.high, watts->peak_W.low) << gpu.name;
    EXPECT_GT(watts->idle_W.low, 0) << gpu.name;
  }
  EXPECT_EQ(known, 39);  // so that each entry belongs to a GPU
  for (const NodeSpec& node : library_nodes()) EXPECT_GT(rest_watts_of(node).value, 0);
  EXPECT_EQ(rest_watts_of(find_node("mi300x")).value, 8 * 160);
}

}  // namespace
}  // namespace windtunnel
