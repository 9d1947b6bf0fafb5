#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/report/api/small_case.hpp"

namespace windtunnel {
namespace {

using ::testing::HasSubstr;

TEST(PublicCase, CopiesAreIndependent) {
  const Case one = small_case();
  Case other = one;
  other.set("name", "other").set("layout.tp", "4");
  EXPECT_EQ(one.name(), "small");
  EXPECT_EQ(other.name(), "other");
  EXPECT_NE(one.key(), other.key());
  EXPECT_EQ(one.key(), other.set("layout.tp", "2").key());  // the name does not count
}

TEST(PublicCase, SettingsAreCheckedTogether) {
  Case the_case = small_case();
  the_case.set("cluster.nodes", "1").set("layout.pp", "16");
  EXPECT_THROW(the_case.check(), Error);
  the_case.set("cluster.nodes", "4");
  the_case.check();
}

TEST(PublicCase, FilesAreReadBesideTheScenario) {
  const std::string path = ::testing::TempDir() + "/public_case.yaml";
  std::ofstream(path) << kSmall;
  EXPECT_EQ(Case::from_file(path).key(), small_case().key());
  std::filesystem::remove(path);
  EXPECT_THAT(error_of([&] { Case::from_file(path); }).what(), HasSubstr(path));
}

TEST(PublicCase, ValuesSayWhatTheyRestOn) {
  bool found = false;
  for (const ResolvedValue& value : small_case().values()) {
    if (value.key != "cluster.node.gpu.memory") continue;
    found = true;
    EXPECT_EQ(value.origin, "spec");
    EXPECT_NE(value.source, "");
  }
  EXPECT_TRUE(found);
}

TEST(PublicCase, OwnSnapshotsAreWhatTheirKeysSay) {
  Case stated = small_case();
  stated.set("snapshots", "[{tier: peers, every: 5 iterations, code: {name: xor, data: 1}}]");
  Case named = small_case();
  named.add_snapshots(
      "mine",
      {{{"tier", "peers"}, {"every", "5 iterations"}, {"code.name", "xor"}, {"code.data", "1"}}});
  EXPECT_EQ(named.set("snapshots", "mine").key(), stated.key());
}

TEST(PublicCase, AnOwnFabricIsWhatItsKeysSay) {
  const std::vector<Setting> keys = {
      {"topology", "fat-tree"}, {"nodes_per_pod", "1"}, {"pod_oversubscription", "4"}};
  Case own = small_case();
  own.add_fabric("racks", keys);
  const auto key_of = [](Case the_case, const std::vector<Setting>& more) {
    for (const auto& [key, value] : more) the_case.set(key, value);
    return the_case.key();
  };
  std::vector<Setting> stated;
  for (const auto& [key, value] : keys) stated.emplace_back("cluster.fabric." + key, value);
  EXPECT_EQ(key_of(own, {{"cluster.fabric", "racks"}}), key_of(small_case(), stated));
  EXPECT_NE(key_of(own, {{"cluster.fabric", "racks"}}), small_case().key());
  // Keys that are stated beside the fabric's name take precedence over its own, whether they are
  // set before or after it.
  stated.back().second = "2";
  const Setting nearer = {"cluster.fabric.pod_oversubscription", "2"};
  const Setting base = {"cluster.fabric.base", "racks"};
  EXPECT_EQ(key_of(own, {{"cluster.fabric", "racks"}, nearer}), key_of(small_case(), stated));
  EXPECT_EQ(key_of(own, {nearer, base}), key_of(small_case(), stated));
  own.set("cluster.fabric", "rakcs");
  EXPECT_THAT(error_of([&] { own.check(); }).what(), HasSubstr("did you mean 'racks'?"));
}

TEST(PublicCase, AnOwnClassOfFailuresIsWhatItsKeysSay) {
  Case own = small_case();
  own.add_failure("driver", {{"kind", "process"}, {"rate", "2 per 1000 node-days"}});
  own.set("failures", "[driver, {class: node, rate: 1 per 1000 node-days}]");
  Case stated = small_case();
  stated.set("failures",
             "[{class: driver, kind: process, rate: 2 per 1000 node-days}, {class: node, rate: 1 "
             "per 1000 node-days}]");
  EXPECT_EQ(own.key(), stated.key());
  own.set("failures.0.rate", "5 per 1000 node-days");
  stated.set("failures.0.rate", "5 per 1000 node-days");
  EXPECT_EQ(own.key(), stated.key());
}

TEST(PublicCase, OwnNamesAndKeysAreChecked) {
  Case the_case = small_case();
  const SnapshotTier tier = {{"tier", "storage"}, {"every", "1 h"}};
  const auto message = [&](const std::string& name, const std::vector<SnapshotTier>& tiers) {
    return std::string(error_of([&] { the_case.add_snapshots(name, tiers); }).what());
  };
  EXPECT_THAT(message("gemini", {tier}), HasSubstr("'gemini' already"));
  EXPECT_THAT(message("", {tier}), HasSubstr("needs a name"));
  EXPECT_THAT(message("mine", {}), HasSubstr("no tier"));
  const Error misspelt = error_of([&] {
    the_case.add_snapshots("mine", {tier, {{"evry", "1 h"}}});
  });
  EXPECT_EQ(misspelt.key(), "snapshots.1.evry");
  EXPECT_THAT(misspelt.text(), testing::StartsWith("snapshot scheme 'mine', tier 1: unknown"));
  EXPECT_THAT(misspelt.text(), HasSubstr("did you mean 'every'?"));
  EXPECT_THAT(error_of([&] { the_case.add_schedule("1f1b", one_forward_one_backward); }).what(),
              HasSubstr("'1f1b' already"));
  EXPECT_THAT(error_of([&] {
                the_case.add_fabric("superpod-h100", {{"routing", "ecmp"}});
              }).what(),
              HasSubstr("'superpod-h100' already"));
  EXPECT_THAT(error_of([&] { the_case.add_fabric("mine", {}); }).what(), HasSubstr("has no key"));
  EXPECT_EQ(error_of([&] {
              the_case.add_fabric("mine", {{"toplogy", "clos"}});
            }).key(),
            "cluster.fabric.toplogy");
  EXPECT_THAT(error_of([&] {
                the_case.add_failure("driver", {{"raet", "1"}});
              }).text(),
              testing::StartsWith("class of failures 'driver': unknown"));
  EXPECT_THAT(error_of([&] {
                the_case.add_failure("2 bad", {{"kind", "node"}});
              }).what(),
              HasSubstr("cannot be called"));
  the_case.add_schedule("my-order", one_forward_one_backward).set("schedule", "my-ordre");
  EXPECT_THAT(error_of([&] { the_case.check(); }).what(), HasSubstr("did you mean 'my-order'?"));
}

}  // namespace
}  // namespace windtunnel
