#include "scenarios/language/overrides.hpp"

#include <fmt/format.h>

#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

Case llama(const Overrides& overrides = {}) {
  return load_case(source_path("scenarios/llama3-405b.yaml"), overrides);
}

TEST(Overrides, ReplaceAValue) {
  const Overrides set = {{"layout.dp", "64"}, {"cluster.nodes", "1024"}};
  const Case changed = llama(set);
  EXPECT_EQ(changed.job.layout.dp, 64);
  EXPECT_EQ(changed.job.cluster.nodes, 1024);
  EXPECT_EQ(changed.set, set);
  EXPECT_NE(changed.key, llama().key);
}

TEST(Overrides, AddAKeyThatTheTextLeavesOut) {
  EXPECT_EQ(llama({{"snapshots.0.mode", "async"}}).job.snapshots[0].mode, SnapshotMode::async);
  EXPECT_EQ(llama({{"communication.fidelity", "flows"}}).job.communication.fidelity,
            Fidelity::flows);
  EXPECT_EQ(llama({{"cluster.slow_nodes", "[{node: 3, slowdown: 1.5}]"}})
                .job.cluster.slow_nodes.at(0)
                .slowdown,
            1.5);
}

TEST(Overrides, SelectItemsOfLists) {
  const Case one = llama({{"failures.1.rate", "1 per node-day"}});
  EXPECT_DOUBLE_EQ(one.job.failures[0].rate_per_node_s, 3.24e-3 / 86400);
  EXPECT_DOUBLE_EQ(one.job.failures[1].rate_per_node_s, 1.0 / 86400);
  const Case all = llama({{"failures.*.rate", "2 per node-day"}});
  for (const FailureClass& failure : all.job.failures) {
    EXPECT_DOUBLE_EQ(failure.rate_per_node_s, 2.0 / 86400);
  }
}

// A trace has no rate and replicas have no interval, so that `*` skips these items.
TEST(Overrides, AllItemsThatHaveTheKey) {
  const Case rates = llama({{"failures.0", "{class: node, arrivals: {trace: infinitehbd}}"},
                            {"failures.*.rate", "2 per node-day"}});
  EXPECT_EQ(rates.job.failures[0].rate_per_node_s, 0);
  EXPECT_DOUBLE_EQ(rates.job.failures[1].rate_per_node_s, 2.0 / 86400);
  EXPECT_DOUBLE_EQ(rates.job.failures[2].rate_per_node_s, 2.0 / 86400);
  const Case every = llama(
      {{"layout.sharding", "none"}, {"snapshots", "just-in-time"}, {"snapshots.*.every", "2 h"}});
  EXPECT_EQ(every.job.snapshots[0].every_s, 0);
  EXPECT_DOUBLE_EQ(every.job.snapshots[1].every_s, 7200);
  // If no item states the key, all items get it.
  for (const SnapshotTier& tier : llama({{"snapshots.*.coordination", "2 s"}}).job.snapshots) {
    EXPECT_DOUBLE_EQ(tier.coordination_s, 2);
  }
}

TEST(Overrides, ANameBecomesTheMapItStandsFor) {
  const Case changed = llama({{"cluster.node.nic", "800 Gb/s"}, {"model.layers", "254"}});
  EXPECT_EQ(changed.job.cluster.node.name, "dgx-h100");
  EXPECT_DOUBLE_EQ(changed.job.cluster.node.nic_Bps.value, 100e9);
  EXPECT_EQ(changed.job.cluster.node.nic_Bps.origin, Origin::assumed);
  EXPECT_DOUBLE_EQ(changed.job.cluster.node.nvlink_Bps.value, 450e9);
  EXPECT_EQ(changed.job.model.layers, 254);
  EXPECT_EQ(changed.job.model.hidden, 16384);
}

TEST(Overrides, ANameThatTakesThePlaceOfMoreSaysSo) {
  const auto notes_of = [](const Overrides& set) {
    std::string text;
    for (const Note& note : llama(set).notes) text += note.key + ": " + note.text + "\n";
    return text;
  };
  EXPECT_EQ(notes_of({{"snapshots", "sync"}}),
            "snapshots: the name replaces the stated keys: {tier: host-memory, every: 10 "
            "iterations, keeper: process}, {tier: storage, every: 1 h, mode: async}\n");
  EXPECT_EQ(
      notes_of({{"cluster.node.nic", "800 Gb/s"}, {"cluster.node", "dgx-h200"}}),
      "cluster.node: the name replaces the stated keys: nic; cluster.node.base would keep them\n");
  // Replacing a name by a name, or giving the full value, needs no note.
  EXPECT_EQ(
      notes_of({{"cluster.node", "dgx-h200"}, {"snapshots", "[{tier: storage, every: 2 h}]"}}), "");
  EXPECT_EQ(notes_of({{"snapshots", "sync"}, {"snapshots", "checkfreq"}}),
            notes_of({{"snapshots", "gemini"}}));
}

TEST(Overrides, NullTakesAKeyAway) {
  // The default applies again, as if the text did not state the key.
  EXPECT_EQ(llama({{"recovery", "null"}}).job.recovery.spares, 0);
  EXPECT_EQ(llama({{"recovery.spares", "~"}}).job.recovery.spares, 0);
  EXPECT_DOUBLE_EQ(llama({{"recovery.spares", "null"}}).job.recovery.restart_s, 180);
  EXPECT_TRUE(llama({{"failures", "null"}, {"snapshots", "null"}}).job.snapshots.empty());
  EXPECT_EQ(llama({{"recovery.hot_spares", "null"}}).key, llama().key);  // it was not stated
  EXPECT_TRUE(fails([] { llama({{"model", "null"}}); }, "the scenario has no 'model'"));
  EXPECT_TRUE(fails([] { llama({{"recovery", ""}}); }, "not nothing"));
}

TEST(Overrides, TheOtherFormReplacesAScalar) {
  const Case changed = llama({{"failures.2.arrivals.weibull", "0.5"}});
  EXPECT_EQ(changed.job.failures[2].arrivals, Arrivals::weibull);
  const Case fixed = llama({{"failures.0.repair", "3 h"}});
  EXPECT_TRUE(fixed.job.failures[0].repair.empirical_s.empty());
  EXPECT_DOUBLE_EQ(fixed.job.failures[0].repair.fixed_s, 3 * 3600.0);
}

TEST(Overrides, EvidenceIsTakenAsText) {
  const Case changed = llama({{"origins.job.price", "published: a price list"}});
  for (const ResolvedValue& value : changed.values) {
    if (value.key != "job.price") continue;
    EXPECT_EQ(value.origin, Origin::published);
    EXPECT_EQ(value.source, "a price list");
  }
}

TEST(Overrides, TheLastOneWins) {
  EXPECT_EQ(llama({{"campaign.seed", "5"}, {"campaign.seed", "6"}}).job.campaign.seed, 6u);
}

TEST(Overrides, ErrorsNameTheOverride) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"layout.ppp", "8"},
      {"layuot.pp", "8"},
      {"layout.pp.x", "8"},
      {"layout.pp", "eight"},
      {"layout.pp", "-8"},
      {"layout.pp", "7"},
      {"layout.pp", ""},
      {"layout", "3"},
      {"layout", "{tp: ["},
      {"layout", "{tp: 8, tp: 4}"},
      {"batch.global", "100"},
      {"batch.micro", "3"},
      {"cluster.storage.write", "2 TB"},
      {"schedule", "zb-v"},
      {"snapshots.every", "1 h"},
      {"snapshots.2.every", "1 h"},
      {"snapshots.99999999999999999999.every", "1 h"},
      {"snapshots.*.evry", "1 h"},
      {"cluster.slow_nodes.*.slowdown", "2"},
      {"layout.stages.0", "2"},
      {"origins.failures.*.rat", "published: x"},
      {"", "3"},
      {".", "3"},
      {"*", "3"},
      {"0", "3"},
  };
  std::string text;
  for (const auto& [key, value] : bad) {
    const std::string message = error_of([&, &key = key, &value = value] {
      llama({{key, value}});
    });
    EXPECT_TRUE(message.starts_with(fmt::format("--set {}={}: ", key, value))) << message;
    text += message + "\n";
  }
  expect_golden("overrides.txt", text);
}

}  // namespace
}  // namespace windtunnel
