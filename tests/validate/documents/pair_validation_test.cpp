#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "validate/documents/kind_documents.hpp"

namespace windtunnel {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

PairSpread small_spread() {
  PairSpreadMachine machine;
  machine.name = "blue";
  machine.nodes = {"n1", "n2", "n3"};
  machine.variation.leaf = {0, 1, 0};
  machine.variation.leaves = 2;
  machine.variation.uplinks = 4;
  machine.variation.uplink_nics = 2;
  PairSeriesSpread good{CollectiveKind::all_to_all, 8, 1 << 25, 3, false};
  good.measured_Bps = {10e9, 20e9, 20e9};
  good.simulated_Bps = {10.9e9, 20e9, 20e9};
  good.uniform_Bps = 20e9;
  PairSeriesSpread bad = good;
  bad.bytes = 1LL << 34;
  bad.simulated_Bps[0] = 12e9;
  PairSeriesSpread fitted = good;
  fitted.fitted = true;
  machine.series = {good, bad, fitted};
  return {{machine}};
}

std::string pairs_text(const PairSpread& spread) {
  return console_text(pairs_document(spread));
}

TEST(PairValidation, TextSaysWhatWasFoundAndHowWellItHolds) {
  const std::string text = pairs_text(small_spread());
  EXPECT_THAT(text, HasSubstr("blue: 3 nodes"));
  EXPECT_THAT(text, HasSubstr("leaves: n1 n3 | n2"));
  EXPECT_THAT(text, HasSubstr("4 uplinks of 2.00 NICs"));
  EXPECT_THAT(text, HasSubstr("are not slowed"));
  EXPECT_THAT(text, HasSubstr("32 MiB"));
  EXPECT_THAT(text, HasSubstr("16 GiB"));
  EXPECT_THAT(text, HasSubstr("9.0%"));
  EXPECT_THAT(text, HasSubstr("1 of 2 series"));
  EXPECT_THAT(text, HasSubstr("with equal pairs 0"));

  PairSpread one_leaf = small_spread();
  one_leaf.machines[0].variation = {};
  one_leaf.machines[0].variation.leaf = {0, 0, 0};
  EXPECT_THAT(pairs_text(one_leaf), HasSubstr("one leaf"));
  EXPECT_THAT(pairs_text(one_leaf), Not(HasSubstr("uplinks of")));
}

TEST(PairValidation, RowsThatCannotBeReadAreNamed) {
  PairSpread spread = small_spread();
  spread.skipped = {{"pairs.csv:3:9", "column 'time_us' holds 'x', not a number"}};
  EXPECT_THAT(pairs_text(spread), HasSubstr("not used: pairs.csv:3:9: column 'time_us' holds 'x'"));
  EXPECT_EQ(pairs_json(spread)["skipped"][0]["id"], "pairs.csv:3:9");
}

TEST(PairValidation, Document) {
  const Json machine = pairs_json(small_spread())["machines"][0];
  EXPECT_EQ(machine["leaves"], Json::parse(R"([["n1", "n3"], ["n2"]])"));
  EXPECT_EQ(machine["uplinks"]["count"], 4);
  EXPECT_EQ(machine["series"].size(), 3);
  EXPECT_EQ(machine["series"][0]["measured_Bps"][0], 10e9);
  EXPECT_NEAR(machine["series"][1]["error"].get<double>(), 0.2, 1e-12);
  EXPECT_NEAR(machine["series"][1]["uniform_error"].get<double>(), 1, 1e-12);
}

}  // namespace
}  // namespace windtunnel
