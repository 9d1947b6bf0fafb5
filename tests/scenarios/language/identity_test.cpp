#include "scenarios/language/identity.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "scenarios/language/text/fields.hpp"
#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

Case every_key(const Overrides& set = {}) {
  static const std::string text = read_text_file(source_path("tests/scenarios/every_key.yaml"));
  return parse_case(text, "every_key.yaml", set);
}

// Returns the case with another value of the key, or nothing if the scenario accepts none of the
// values tried.
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

// Keys that the scenario leaves open are written out with their resolved values.
TEST(Identity, IsTheSameWhereADefaultIsWrittenOut) {
  const auto same = [](const Overrides& base, const std::string& key, const std::string& value) {
    const Case open = load_case(source_path("scenarios/small.yaml"), base);
    Overrides set = base;
    set.emplace_back(key, value);
    const Case written = load_case(source_path("scenarios/small.yaml"), set);
    EXPECT_EQ(open.key, written.key) << key << "=" << value;
    EXPECT_EQ(open.table, written.table) << key << "=" << value;
  };
  // These defaults come from the library and from other values.
  for (const auto& [key, value] : Overrides{{"layout.dp", "4"},
                                            {"layout.vpp", "1"},
                                            {"layout.shard_ranks", "4"},
                                            {"batch.sequence", "8192"},
                                            {"cluster.node.gpus", "8"},
                                            {"cluster.node.package_gpus", "1"},
                                            {"cluster.fabric.nodes_per_pod", "0"},
                                            {"model.layers", "32"},
                                            {"model.biases", "false"},
                                            {"model.encoder", "false"},
                                            {"model.moe", "{experts: 0}"},
                                            {"failures.0.kind", "node"},
                                            {"failures.0.detect", "60 s"},
                                            {"failures.0.arrivals", "exponential"},
                                            {"schedule.slices", "1"},
                                            {"cluster.fabric.variation", "{sigma: 0}"},
                                            {"job.price", "0 USD per gpu-hour"}}) {
    same({}, key, value);
  }
  const Overrides of_library = {{"origins", "{cluster.node: 'spec: NVIDIA'}"},
                                {"cluster.node.nvlink", "450 GB/s"}};
  same(of_library, "cluster.node.nic", "400 Gb/s");
  // These optional keys are set by the member's initialiser, a library row or a rule.
  same({{"schedule", "seq1f1b"}}, "schedule.slices", "4");
  same({{"schedule", "interleaved-1f1b"}}, "schedule.group", "2");
  same({{"communication.compressor", "powersgd"}, {"layout.sharding", "none"}},
       "communication.compressor.rank", "4");
  same({{"batch.lengths", "{median: 2000}"}, {"layout.pp", "1"}}, "batch.lengths.sigma", "1");
  same({{"batch.lengths", "{median: 2000}"}, {"layout.pp", "1"}}, "batch.lengths.longest", "8192");
  same({{"cluster.fabric.routing", "ecmp"}}, "cluster.fabric.routing_seed", "1");
  same({{"model", "mixtral-8x7b"}}, "model.moe.hot_experts", "0");
  same({{"failures", "[{class: corrupt-snapshot, job_rate: 1 per day}]"}}, "failures.0.tier", "0");
  same({{"layout.sharding", "zero3"}}, "layout.weight_ranks", "4");
}

// Results name the origins of these numbers, so that origins are part of the identity.
TEST(Identity, IsOfTheOriginsThatResultsName) {
  const auto with = [](const Overrides& set) {
    return load_case(source_path("scenarios/small.yaml"), set);
  };
  const auto from = [&](const std::string& origin) {
    return with({{"cluster.node.nic", "400 Gb/s"},
                 {"origins", "{cluster.node.nic: '" + origin + ": a source'}"}});
  };
  EXPECT_NE(from("spec").table, from("measured").table);
  const auto failures = [&](const std::string& origin) {
    return with({{"origins", "{failures: '" + origin + ": a source'}"}});
  };
  EXPECT_NE(failures("spec").key, failures("measured").key);
  EXPECT_EQ(failures("spec").table, failures("measured").table);
}

// The file states the origin of its numbers.
TEST(Identity, IsOfTheOriginOfATrace) {
  const std::string folder = testing::TempDir() + "identity_test_origin";
  std::filesystem::create_directories(folder);
  const auto key = [&](const std::string& origin) {
    std::ofstream(folder + "/times.csv") << "# origin: " << origin << "\n1\n2\n5\n";
    return parse_case(read_text_file(source_path("scenarios/small.yaml")), folder + "/a.yaml",
                      {{"failures", "[{class: node, arrivals: {trace: times.csv}}]"}})
        .key;
  };
  EXPECT_NE(key("measured"), key("assumed"));
  std::filesystem::remove_all(folder);
}

// A file may change while its name stays: its content is part of the identity.
TEST(Identity, IsOfWhatStandsInNamedFiles) {
  const std::string text =
      "name: a\nmodel: llama3-8b\ncluster: {nodes: 4, node: dgx-h100}\nlayout: {tp: 8, dp: 4}\n"
      "batch: {global: 32}\n";
  struct Named {
    std::string file, rows, others;
    Overrides set;
    bool of_iterations = false;
  };
  const std::string cables = "node 0,leaf,50 GB/s\nnode 1,leaf,50 GB/s\nnode 2,leaf,50 GB/s\n";
  const Named all[] = {
      {"rates.csv",
       "step,rate\n0,0.01\n1000,0.0001\n",
       "step,rate\n0,0.01\n1000,0.009\n",
       {{"sync", "[{over: node, every: 4 steps, rates: rates.csv, growth: 0.02}]"}},
       true},
      {"peers.csv",
       "time_s,peers\n0,8\n",
       "time_s,peers\n0,9\n",
       {{"volunteers",
         "{peers: [{name: a, count: 8, up: 1 Gb/s, down: 1 Gb/s}], trace: peers.csv}"}}},
      {"steps.csv", "steps\n1000\n", "steps\n2000\n", {{"job.quality", "steps.csv"}}},
      {"edges.csv",
       "a,b,bandwidth\n" + cables + "node 3,leaf,50 GB/s\n",
       "a,b,bandwidth\n" + cables + "node 3,leaf,25 GB/s\n",
       {{"cluster.fabric", "{topology: graph, edges_file: edges.csv}"}},
       true},
      {"places.csv",
       "node\n0\n1\n2\n3\n",
       "node\n4\n5\n6\n7\n",
       {{"cluster.fabric", "{nodes: 8}"}, {"layout.placement", "places.csv"}},
       true},
      {"times.csv",
       "1\n2\n5\n",
       "1\n2\n6\n",
       {{"failures", "[{class: node, arrivals: {trace: times.csv}}]"}}},
      {"repairs.csv",
       "1\n2\n5\n",
       "1\n2\n6\n",
       {{"failures",
         "[{class: node, rate: 1 per 1000 node-days, repair: {empirical: repairs.csv}}]"}}}};
  const std::string folder = testing::TempDir() + "identity_test_files";
  std::filesystem::create_directories(folder);
  for (const Named& each : all) {
    const auto with = [&](const std::string& rows) {
      std::ofstream(folder + "/" + each.file) << rows;
      return parse_case(text, folder + "/a.yaml", each.set);
    };
    const Case one = with(each.rows);
    const Case other = with(each.others);
    EXPECT_NE(one.key, other.key) << each.file;
    EXPECT_EQ(one.table == other.table, !each.of_iterations) << each.file;
    EXPECT_EQ(with(each.rows).key, one.key) << each.file;
  }
  std::filesystem::remove_all(folder);
}

// Numbers differ in more digits than are printed.
TEST(Identity, IsOfExactNumbers) {
  const auto key = [](const std::string& bucket) {
    return every_key({{"communication.bucket", bucket}}).key;
  };
  EXPECT_EQ(key("25 MB"), key("25000 kB"));
  EXPECT_NE(key("25.00000000000001 MB"), key("25 MB"));
}

TEST(Identity, DigitsAreANumberAndBack) {
  for (const std::string text : {"", "0000000000000001", "e5d95467c3bbaa0f", "ffffffffffffffff"}) {
    ASSERT_TRUE(key_number(text)) << text;
    EXPECT_EQ(key_text(*key_number(text)), text);
  }
  for (const char* text : {"1", "E5D95467C3BBAA0F", "e5d95467c3bbaa0", "e5d95467c3bbaa0f0", "key-0",
                           "-000000000000001", " 000000000000001"}) {
    EXPECT_FALSE(key_number(text)) << text;
  }
}

}  // namespace
}  // namespace windtunnel
