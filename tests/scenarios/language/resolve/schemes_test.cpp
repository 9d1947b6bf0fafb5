#include "scenarios/language/resolve/schemes.hpp"

#include "policies/protection/snapshot_tiers.hpp"
#include "scenarios/language/additions.hpp"
#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

// Several ranks hold each part of weights and optimizer state, so that the tier `replicas` can
// restore them.
constexpr const char* kScenario =
    "name: a\nmodel: llama3-8b\n"
    "cluster: {nodes: 24, node: dgx-h100, storage: {write: 10 GB/s, read: 10 GB/s}}\n"
    "layout: {tp: 8, dp: 24}\nbatch: {global: 48}\n"
    "failures:\n  - {class: node, rate: 6.5 per 1000 node-days}\n";

Case with(const Overrides& overrides) {
  return parse_case(kScenario, "a.yaml", overrides);
}

ResolvedValue explained(const Case& result, const std::string& key) {
  for (const ResolvedValue& value : result.values) {
    if (value.key == key) return value;
  }
  ADD_FAILURE() << key;
  return {};
}

TEST(Schemes, AllAreAcceptedAndNamedOnce) {
  std::vector<std::string> names;
  for (const Scheme& scheme : snapshot_schemes()) {
    EXPECT_EQ(with({{"snapshots", scheme.name}}).job.snapshots.size(), scheme.body.items.size());
    names.push_back(scheme.name);
  }
  for (const Scheme& scheme : recovery_schemes()) {
    EXPECT_NO_THROW(with({{"recovery", scheme.name}})) << scheme.name;
  }
  EXPECT_EQ(names.size(), 17u);
  EXPECT_EQ(recovery_schemes().size(), 9u);
}

// Whether a scheme survives a crash of all trainers without the loss of a node, and how many
// adjacent nodes it may lose.
struct Survival {
  const char* scheme;
  bool crash;
  int neighbours;
};

TEST(Schemes, TheNearestTierSurvivesWhatIsPublished) {
  const Survival rows[] = {{"gemini", true, 1},
                           {"reft", true, 1},
                           {"reft-rs", true, 2},
                           {"reft-v2-copy", true, 0},
                           {"reft-v2-code", true, 0},
                           {"nvrx", true, 1},
                           {"reft-v2-recompute", true, 0},
                           {"sync", true, 24},
                           {"checkfreq", true, 24},
                           {"bytecheckpoint", true, 24},
                           {"datastates", true, 24},
                           {"check-n-run", true, 24}};
  for (const Survival& row : rows) {
    const Case result = with({{"snapshots", row.scheme}});
    const TierProtection protection = protection_of(
        result.job.snapshots.at(0), 24, same_shard_nodes(result.job.layout, result.job.cluster));
    EXPECT_EQ(protection.trainer, row.crash) << row.scheme;
    std::vector<int> lost;
    for (int node = 0; node < 24; ++node) {
      lost.push_back(node);
      EXPECT_EQ(survives_nodes(protection, lost), node < row.neighbours) << row.scheme << node;
    }
  }
}

TEST(Schemes, NumbersOfThePapers) {
  const auto tiers = [](const char* name) { return with({{"snapshots", name}}).job.snapshots; };
  EXPECT_DOUBLE_EQ(tiers("checkfreq")[0].every_overhead, 0.035);
  EXPECT_EQ(tiers("gemini")[0].every_iterations, 1);
  EXPECT_DOUBLE_EQ(tiers("gemini")[1].every_s, 3 * 3600.0);
  EXPECT_EQ(tiers("gemini")[0].code.members(), 2);
  // RAIM5 over 4 nodes keeps 1 / (4 - 1) of a node's bytes as parity.
  const ErasureCode raim = tiers("reft")[0].code;
  EXPECT_EQ(raim.members(), 4);
  EXPECT_DOUBLE_EQ(static_cast<double>(raim.parity) / raim.data, 1.0 / 3);
  // The code covers the eight snapshot processes of a node.
  EXPECT_EQ(tiers("reft-v2-code")[0].code.data, 7);
  EXPECT_TRUE(tiers("reft-v2-code")[0].code.in_node);
  // Check-N-Run reports 6 to 17 times fewer bytes.
  EXPECT_GT(moved_share(tiers("check-n-run")[0]), 1.0 / 17);
  EXPECT_LT(moved_share(tiers("check-n-run")[0]), 1.0 / 6);
  const RecoveryPolicy groups = with({{"recovery", "ft-hsdp"}}).job.recovery;
  EXPECT_EQ(groups.elastic.groups, 12);
  EXPECT_DOUBLE_EQ(groups.elastic.stall_s + groups.elastic.rejoin_s, 600);
}

TEST(Schemes, OverridesReachIntoThem) {
  const Case changed = with({{"snapshots", "gemini"}, {"snapshots.0.every", "7 iterations"}});
  EXPECT_EQ(changed.job.snapshots.at(0).every_iterations, 7);
  EXPECT_EQ(explained(changed, "snapshots").value, "gemini");
  EXPECT_EQ(explained(changed, "snapshots.0.every").source, "chosen by the scenario");
  EXPECT_EQ(explained(changed, "snapshots.1.every").origin, Origin::published);
  // An override also changes a scheme that a file names, and may name another one.
  const std::string text = std::string(kScenario) + "snapshots: gemini\n";
  const Overrides every = {{"snapshots.0.every", "7 iterations"}};
  EXPECT_EQ(parse_case(text, "a.yaml", every).job.snapshots.at(0).every_iterations, 7);
  EXPECT_EQ(parse_case(text, "a.yaml", {{"snapshots", "none"}}).job.snapshots.size(), 0u);
  EXPECT_NE(parse_case(text, "a.yaml", every).key, parse_case(text, "a.yaml").key);
}

TEST(Schemes, ARecoveryMayDifferFromItsBase) {
  const Overrides own = {{"recovery", "{base: ft-hsdp, spares: 3, elastic: {groups: 4}}"}};
  const Case result = with(own);
  EXPECT_EQ(result.job.recovery.spares, 3);
  EXPECT_EQ(result.job.recovery.elastic.groups, 4);
  EXPECT_DOUBLE_EQ(result.job.recovery.elastic.stall_s, 180);
  EXPECT_EQ(explained(result, "recovery.elastic.stall").origin, Origin::published);
  EXPECT_EQ(explained(result, "recovery.elastic.groups").origin, Origin::assumed);
  // Changing the base keeps the scenario's own keys.
  const Case based = with({{"recovery.spares", "3"}, {"recovery.base", "bamboo"}});
  EXPECT_EQ(based.job.recovery.spares, 3);
  EXPECT_DOUBLE_EQ(based.job.recovery.restart_s, 60);
  EXPECT_EQ(based.job.recovery.when_no_spare, WhenNoSpare::reroute);
}

// A base sets what the scenario leaves open; naming a scheme for the whole replaces all keys.
TEST(Schemes, ABaseErasesNothingThatIsStatedAndANameDoes) {
  const std::string text =
      std::string(kScenario) + "recovery: {spares: 128, detect: 60 s, elastic: {groups: 6}}\n";
  const Case hot = parse_case(text, "a.yaml", {{"recovery.base", "hot-spares"}});
  EXPECT_EQ(hot.job.recovery.spares, 128);
  EXPECT_DOUBLE_EQ(hot.job.recovery.detect_s, 60);
  EXPECT_EQ(hot.job.recovery.hot_spares, 4);
  EXPECT_DOUBLE_EQ(hot.job.recovery.provision_s, 300);
  const Case named = parse_case(text, "a.yaml", {{"recovery", "hot-spares"}});
  EXPECT_EQ(named.job.recovery.spares, 4);
  EXPECT_DOUBLE_EQ(named.job.recovery.detect_s, 30);
  EXPECT_EQ(named.job.recovery.elastic.groups,
            with({{"recovery", "hot-spares"}}).job.recovery.elastic.groups);
  EXPECT_EQ(named.key, with({{"recovery", "hot-spares"}}).key);
  // If the scenario has fewer spares than the scheme, all of them are hot, as in the scheme.
  const Case fewer = parse_case(std::string(kScenario) + "recovery: {spares: 1}\n", "a.yaml",
                                {{"recovery.base", "hot-spares"}});
  EXPECT_EQ(fewer.job.recovery.hot_spares, 1);
  const auto note_of = [&](const char* scheme) {
    const Case named = parse_case(text, "a.yaml", {{"recovery.base", scheme}});
    for (const Note& note : named.notes) {
      if (note.text.find("does not replace") != std::string::npos) {
        return note.key + ": " + note.text;
      }
    }
    return std::string();
  };
  EXPECT_EQ(note_of("hot-spares"),
            "recovery: hot-spares does not replace the stated keys: spares: 128 (not 4), detect: "
            "60 s (not 30 s)");
  EXPECT_EQ(note_of("ft-hsdp"),
            "recovery: ft-hsdp does not replace the stated keys: elastic.groups: 6 (not 12)");
  EXPECT_EQ(note_of("restart"), "");
  // A text may state base and keys together.
  const std::string both = std::string(kScenario) + "recovery: {base: hot-spares, spares: 128}\n";
  for (const Note& note : parse_case(both, "a.yaml").notes) {
    EXPECT_EQ(note.text.find("does not replace"), std::string::npos) << note.text;
  }
}

Case with_fabrics(const std::vector<OwnPart>& parts, const Overrides& set) {
  return resolve_case({.file = "a.yaml",
                       .text = kScenario,
                       .set = set,
                       .added = std::make_shared<const Additions>(Additions{{}, parts})});
}

// A fabric of one's own is used by name and as a base; its base may be another one of one's own,
// added before or after it.
TEST(Schemes, OwnFabricsMayBeBasedOnOwnOnes) {
  const Overrides keys = {{"topology", "fat-tree"}, {"nodes_per_pod", "4"}};
  const OwnPart a = own_fabric("a", keys);
  const OwnPart b = own_fabric("b", {{"base", "a"}, {"pod_oversubscription", "4"}});
  const OwnPart c = own_fabric("c", {{"base", "b"}, {"nodes_per_pod", "8"}});
  const std::string stated = with({{"cluster.fabric.topology", "fat-tree"},
                                   {"cluster.fabric.nodes_per_pod", "8"},
                                   {"cluster.fabric.pod_oversubscription", "4"}})
                                 .key;
  for (const std::string key : {"cluster.fabric", "cluster.fabric.base"}) {
    EXPECT_EQ(with_fabrics({a, b, c}, {{key, "c"}}).key, stated) << key;
    EXPECT_EQ(with_fabrics({c, b, a}, {{key, "c"}}).key, stated) << key;
  }
}

TEST(Schemes, BasesThatLeadBackAreRefused) {
  const std::vector<OwnPart> ring = {own_fabric("a", {{"base", "b"}}),
                                     own_fabric("b", {{"base", "a"}})};
  for (const std::string key : {"cluster.fabric", "cluster.fabric.base"}) {
    EXPECT_TRUE(fails([&] { with_fabrics(ring, {{key, "a"}}); }, "form a cycle")) << key;
  }
}

TEST(Schemes, UnknownNamesGetTheNearest) {
  EXPECT_EQ(parse_message(std::string(kScenario) + "snapshots: geminy\n", "a.yaml"),
            "a.yaml:8:12: unknown snapshots 'geminy'; did you mean 'gemini'?");
  EXPECT_EQ(parse_message(kScenario, "a.yaml", {{"recovery", "oblek"}}),
            "--set recovery=oblek: unknown recovery 'oblek'; did you mean 'oobleck'?");
  EXPECT_EQ(
      parse_message(kScenario, "a.yaml", {{"snapshots", "none"}, {"snapshots.0.every", "1 h"}}),
      "--set snapshots.0.every=1 h: the scenario has no snapshots to set");
}

// Requirements of a scheme on the job are reported where its name stands.
TEST(Schemes, ErrorsPointAtTheName) {
  const std::string text =
      "name: a\nmodel: llama3-8b\ncluster: {nodes: 2, node: dgx-h100}\nbatch: {global: 64}\n"
      "snapshots: reft\n";
  EXPECT_TRUE(parse_message(text, "a.yaml").starts_with("a.yaml:5:12: snapshots.0.code: "))
      << parse_message(text, "a.yaml");
}

TEST(Schemes, FilesThatAreNone) {
  const auto message = [](const std::string& text) {
    return error_of([&] { read_schemes(parse_document(text, "s.yaml"), "snapshots"); });
  };
  const std::string origins = "origins: {snapshots: 'assumed: a test'}";
  EXPECT_EQ(message("a: {help: b, snapshots: [], " + origins + "}"), "no error");
  EXPECT_EQ(message("a: {help: b, " + origins + "}"), "s.yaml:1:4: 'snapshots' is missing");
  EXPECT_EQ(message("a: {help: b, snapshots: [], origins: {failures: 'assumed: c'}}"),
            "s.yaml:1:38: 'snapshots' is missing");
  EXPECT_EQ(message("a: {helps: b, snapshots: [], " + origins + "}"),
            "s.yaml:1:5: unknown key 'helps'; did you mean 'help'?");
}

}  // namespace
}  // namespace windtunnel
