// A key that only this program has: one row that binds it to a member suffices for parser, default,
// messages, --explain, schema and identity.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "scenarios/language/fields/field_rows.hpp"
#include "scenarios/language/fields/schema.hpp"
#include "tests/scenarios/golden.hpp"

namespace windtunnel {

enum class Herb { basil, thyme };

template <>
inline constexpr Choice<Herb> kChoices<Herb>[] = {{"basil", Herb::basil}, {"thyme", Herb::thyme}};

struct Spice {
  double amount_bytes = 4e6;
  Herb herb = Herb::thyme;
};

Rows more_rows() {
  return {
      map_row("spice", example("{amount: 1 MB}"), "added by this test"),
      choice_row("spice.amount", sets<&Spice::amount_bytes>, Dimension::bytes, range(1, 1e9),
                 example("1 MB"), "how much of it"),
      name_row("spice.herb", sets<&Spice::herb>, Scope::campaign, example("basil"), "which one")};
}

namespace {

const char* const kText =
    "name: a\nmodel: llama3-8b\ncluster: {nodes: 1, node: dgx-h100}\nbatch: {global: 8}\n";

Spice spice_of(const std::string& more) {
  Spice spice{.amount_bytes = 0, .herb = Herb::basil};
  check_values(parse_document(kText + more, "a.yaml")).fill("spice", spice);
  return spice;
}

TEST(AddedKey, IsReadAndHasTheMembersDefault) {
  EXPECT_EQ(spice_of("").amount_bytes, 4e6);
  EXPECT_EQ(spice_of("").herb, Herb::thyme);
  EXPECT_EQ(spice_of("spice: {amount: 2 kB}").amount_bytes, 2000);
  EXPECT_EQ(spice_of("spice: {herb: basil}").herb, Herb::basil);
}

TEST(AddedKey, IsInMessagesWithItsPlace) {
  const auto message = [](const std::string& spice) {
    return parse_message(kText + ("spice: " + spice), "a.yaml");
  };
  EXPECT_EQ(message("{amount: 2 GB}"), "a.yaml:5:17: spice.amount: must be at most 1 GB, not 2 GB");
  EXPECT_EQ(message("{amuont: 2 GB}"),
            "a.yaml:5:9: unknown spice key 'amuont'; did you mean 'amount'?");
  EXPECT_EQ(message("{herb: tyme}"), "a.yaml:5:15: unknown herb 'tyme'; did you mean 'thyme'?");
}

TEST(AddedKey, IsExplainedAndInTheSchema) {
  const Case result = parse_case(kText, "a.yaml");
  const auto found = std::ranges::find(result.values, "spice.amount", &ResolvedValue::key);
  ASSERT_NE(found, result.values.end());
  EXPECT_EQ(found->value, "4 MB");
  EXPECT_TRUE(found->is_default);
  const auto schema = nlohmann::json::parse(scenario_schema());
  const auto& spice = schema["properties"]["spice"]["properties"];
  EXPECT_EQ(spice["amount"]["default"], "4 MB");
  EXPECT_EQ(spice["herb"]["enum"], nlohmann::json({"basil", "thyme"}));
}

TEST(AddedKey, CountsInTheIdentityOfItsScope) {
  const auto read = [](const Overrides& set) { return parse_case(kText, "a.yaml", set); };
  const Case plain = read({});
  EXPECT_EQ(read({{"spice.amount", "4000 kB"}}).key, plain.key);
  EXPECT_NE(read({{"spice.amount", "5 MB"}}).key, plain.key);
  EXPECT_NE(read({{"spice.amount", "5 MB"}}).table, plain.table);
  EXPECT_NE(read({{"spice.herb", "basil"}}).key, plain.key);
  EXPECT_EQ(read({{"spice.herb", "basil"}}).table, plain.table);
}

}  // namespace
}  // namespace windtunnel
