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
  EXPECT_EQ(one.key(), other.set("layout.tp", "2").key());  // the name is no part of it
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
  the_case.add_schedule("my-order", one_forward_one_backward).set("schedule", "my-ordre");
  EXPECT_THAT(error_of([&] { the_case.check(); }).what(), HasSubstr("did you mean 'my-order'?"));
}

}  // namespace
}  // namespace windtunnel
