#include "scenarios/language/identity.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "scenarios/language/text/fields.hpp"
#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

Case every_key(const Overrides& set = {}) {
  static const std::string text = read_text_file(source_path("tests/scenarios/every_key.yaml"));
  return parse_case(text, "every_key.yaml", set);
}

// With another value of the key; none where the rest of the scenario allows none of those tried.
std::optional<Case> with_another(const ResolvedValue& value) {
  const Field& field = *find_field(value.key);
  std::vector<std::string> others = names_of(field);
  if (field.scalar == ScalarType::boolean) {
    others = {*value.number == 1 ? "false" : "true"};
  } else if (value.number) {
    for (const double factor : {2.0, 0.5, 1.25}) {
      others.push_back(format_quantity(*value.number * factor, value.dimension));
    }
    others.emplace_back("1");
  }
  for (const std::string& other : others) {
    if (other == value.value) continue;
    try {
      return every_key({{value.key, other}});
    } catch (const Error&) {
      continue;
    }
  }
  return std::nullopt;
}

TEST(Identity, IsOfAllValuesOfItsScope) {
  const Case base = every_key();
  EXPECT_EQ(base.key.size(), 16u);
  EXPECT_NE(base.key, base.table);
  size_t changed = 0;
  for (const ResolvedValue& value : base.values) {
    const Field* field = find_field(value.key);
    if (field == nullptr || field->scalar == ScalarType::none) continue;
    const std::optional<Case> other = with_another(value);
    if (!other) continue;
    ++changed;
    EXPECT_EQ(other->key != base.key, field->scope != Scope::label) << value.key;
    EXPECT_EQ(other->table != base.table, field->scope == Scope::iteration) << value.key;
  }
  EXPECT_GT(changed, 130u);
}

TEST(Identity, OfATableIsWhatItIsMadeOf) {
  const std::string text =
      "name: a\nmodel: llama3-8b\ncluster: {nodes: 4, node: dgx-h100}\nbatch: {global: 32}\n"
      "snapshots: [{tier: peers, every: 10 iterations, code: {name: xor, data: 3}}]\n"
      "failures: [{class: slow, kind: slow-node, rate: 1 per 1000 node-days, slowdown: 2}]\n"
      "campaign: {length: 1 d}\n";
  const std::string table = parse_case(text, "a.yaml").table;
  const auto same = [&](const std::string& key, const std::string& value) {
    return parse_case(text, "a.yaml", {{key, value}}).table == table;
  };
  EXPECT_TRUE(same("snapshots.0.every", "99 iterations"));
  EXPECT_TRUE(same("snapshots.0.every", "{overhead: 0.01}"));
  EXPECT_TRUE(same("recovery.detect", "7 s"));
  EXPECT_TRUE(same("campaign.seed", "7"));
  EXPECT_TRUE(same("job.tokens", "7 B"));
  EXPECT_TRUE(same("failures.0.rate", "2 per 1000 node-days"));
  EXPECT_TRUE(same("name", "b"));
  EXPECT_FALSE(same("failures.0.slowdown", "3"));
  EXPECT_FALSE(same("failures", "[]"));
  EXPECT_FALSE(same("snapshots.0.code.data", "2"));
  EXPECT_FALSE(same("snapshots.0.mode", "lazy"));
  EXPECT_FALSE(same("snapshots", "[]"));
  EXPECT_FALSE(same("recovery.when_no_spare", "shrink"));
  EXPECT_FALSE(same("recovery.elastic", "{groups: 2}"));
  EXPECT_FALSE(same("cluster.node.local_disk", "1 GB/s"));
  EXPECT_FALSE(same("cluster.slow_nodes", "[{node: 1, slowdown: 2}]"));
  EXPECT_FALSE(same("calibration", "generic"));
}

// More digits than a value is printed with.
TEST(Identity, IsOfExactNumbers) {
  const auto key = [](const std::string& bucket) {
    return every_key({{"communication.bucket", bucket}}).key;
  };
  EXPECT_EQ(key("25 MB"), key("25000 kB"));
  EXPECT_NE(key("25.00000000000001 MB"), key("25 MB"));
}

}  // namespace
}  // namespace windtunnel
