// Tests refuse texts that are no scenario, layouts that do not fit, and pairs of keys that
// conflict.
#include "scenarios/language/text/document.hpp"

#include <fmt/format.h>

#include "models/base/random.hpp"
#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

constexpr const char* kExample = "scenarios/llama3-405b.yaml";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

struct NamedText {
  std::string name;
  std::string text;
};

std::vector<NamedText> bad_texts() {
  const std::string good = read_text_file(source_path("scenarios/small.yaml"));
  std::string bomb = "a0: &a0 [1, 1]\n";
  for (int i = 1; i < 30; ++i) bomb += fmt::format("a{0}: &a{0} [*a{1}, *a{1}]\n", i, i - 1);
  return {
      {"empty", ""},
      {"comments only", "# nothing\n\n"},
      {"a word", "hello\n"},
      {"a list", "- 1\n- 2\n"},
      {"two documents", "name: a\n---\nname: b\n"},
      {"a comma is in front of it", ", once\nname: a\n"},
      {"bracket too many", "name: a\n]\n"},
      {"brace too many", replaced(good, "batch: {global: 64}", "batch: {global: 64}}")},
      {"truncated in a map", good.substr(0, good.find("nodes: 2") + 8)},
      {"truncated in a text", "name: \"sma"},
      {"truncated after a key", good.substr(0, good.find("layout:") + 7)},
      {"tab as indentation", "cluster:\n\tnodes: 2\n"},
      {"key without value", replaced(good, "name: small", "name:")},
      {"duplicate key", replaced(good, "recompute: selective", "recompute: none\nname: again")},
      {"duplicate key below", replaced(good, "tp: 2", "tp: 2, pp: 1")},
      {"merge key", replaced(good, "tp: 2", "<<: {cp: 1}")},
      {"key that is a list", "[a, b]: 1\n"},
      {"key at the wrong level", replaced(good, "name: small", "name: small\npp: 2")},
      {"key at another level", replaced(good, "tp: 2", "micro: 2")},
      {"undefined alias", "name: *nobody\n"},
      {"alias of an empty value", replaced(good, "name: small", "name: &n\nnote: *n")},
      {"alias of itself", "name: &a {b: *a}\n"},
      {"aliases without end", bomb},
      {"deep nesting", std::string(100, '[') + std::string(100, ']')},
      {"very deep nesting", std::string(100'000, '[')},
      {"index as a key", replaced(good, "snapshots:\n  - {tier", "snapshots:\n  0: {tier")},
      {"star as a key", replaced(good, "failures:\n  - {class", "failures:\n  '*': {class")},
      {"key with a dot", replaced(good, "name: small", "name: small\nlayout.tp: 4")},
      {"empty key", replaced(good, "name: small", "name: small\n'': {name: b}")},
      {"text that is empty", replaced(good, "name: small", "name: ''")},
      {"no name", replaced(good, "name: small", "")},
      {"no model", replaced(good, "model: llama3-8b", "")},
      {"no nodes", replaced(good, "nodes: 2, ", "")},
      {"no node", replaced(good, "node: dgx-h100, ", "")},
      {"no batch", replaced(good, "batch: {global: 64}", "")},
      {"no global batch", replaced(good, "global: 64", "micro: 1")},
      {"no interval", replaced(good, ", every: 30 min", "")},
      {"no rate", replaced(good, "rate: 6.5 per 1000 node-days, ", "")},
      {"no campaign length", replaced(good, "length: 30 d, ", "")},
      {"storage that only reads", replaced(good, "write: 10 GB/s, ", "")},
  };
}

TEST(BadFiles, TextsThatAreNoScenario) {
  std::string text;
  for (const NamedText& bad : bad_texts()) {
    const std::string message = parse_message(bad.text, "bad.yaml");
    EXPECT_TRUE(message.starts_with("bad.yaml:")) << bad.name << ": " << message;
    text += message + "\n";
  }
  expect_golden("bad_texts.txt", text);
}

// Wherever a file is cut off, reading it ends with an Error or a scenario, never with a crash.
TEST(BadFiles, TruncatedAnywhere) {
  const std::string good = read_text_file(source_path(kExample));
  int refused = 0;
  for (size_t length = 0; length < good.size(); length += 3) {
    const std::string message = parse_message(good.substr(0, length), "cut.yaml");
    if (message != "no error") ++refused;
  }
  EXPECT_GT(refused, 400);
}

// Whatever a file contains, reading it ends with an Error or a scenario.
TEST(BadFiles, RandomBytes) {
  const std::string good = read_text_file(source_path("tests/scenarios/every_key.yaml"));
  RandomStream random(1, RandomPurpose::test, 0);
  int refused = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string text = good;
    for (std::uint64_t i = 0, changes = 1 + random.below(4); i < changes; ++i) {
      text[random.below(text.size())] = static_cast<char>(random.below(256));
    }
    if (parse_message(text, "random.yaml") != "no error") ++refused;
  }
  EXPECT_GT(refused, 1000);
}

TEST(BadFiles, FilesThatCannotBeRead) {
  EXPECT_EQ(error_of([] { load_case("no/such/file.yaml"); }),
            "no/such/file.yaml: cannot be read: No such file or directory");
  const std::string folder = source_path("scenarios");
  EXPECT_EQ(error_of([&] { load_case(folder); }), folder + ": is a folder; expected a file");
}

TEST(BadFiles, LayoutsThatDoNotFit) {
  const std::string good = read_text_file(source_path(kExample));
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"tp: 8", "tp: 3"},
      {"tp: 8", "tp: 16"},
      {"tp: 8", "tp: 2147483647"},
      {"pp: 16", "pp: 7"},
      {"pp: 16, vpp: 8", "pp: 1, vpp: 8"},
      {"vpp: 8", "vpp: 7"},
      {"dp: 128", "dp: 100"},
      {" dp: 128,", ""},
      {"cp: 1", "cp: 3"},
      {"nodes: 2048", "nodes: 2047"},
      {"nodes: 2048", "nodes: 2147483647"},
      {"{first: -1, last: -1}", "{first: 0, last: 0}"},
      {"{first: -1, last: -1}", "{first: -2, last: 0}"},
      {"{first: -1, last: -1}", "[1, 2, 3]"},
      {"{first: -1, last: -1}", "[1, two]"},
      {"{first: -1, last: -1}", "{first: 0, last: -2}"},
      {"schedule: interleaved-1f1b", "schedule: 1f1b"},
      {"vpp: 8, dp: 128, ", "vpp: 1, dp: 128, "},
      {"global: 2048", "global: 2176"},
      {"global: 2048", "global: 100000000"},
      {"global: 2048", "global: 2047"},
      {"micro: 1", "micro: 5"},
      {"sequence: 8192", "sequence: 8191"},
      {"model: llama3-405b", "model: {base: llama3-405b, layers: 130}"},
      {"model: llama3-405b", "model: {base: llama3-405b, kv_heads: 3}"},
      {"model: llama3-405b", "model: {hidden: 1024, heads: 8}"},
  };
  std::string text;
  for (const auto& [from, to] : changes) {
    std::string changed = replaced(good, from, to);
    if (from == " dp: 128,") changed = replaced(changed, "pp: 16", "pp: 11");
    const std::string message = parse_message(changed, "llama3-405b.yaml");
    EXPECT_TRUE(message.starts_with("llama3-405b.yaml:")) << message;
    text += message + "\n";
  }
  expect_golden("layouts.txt", text);
}

TEST(BadFiles, ShardsOfZero3) {
  const std::string text =
      "name: a\nmodel: llama3-8b\ncluster: {nodes: 4, node: dgx-h100}\nbatch: {global: 64}\n"
      "layout: {sharding: zero3, secondary_ranks: 8, weight_bits: 8, gradient_bits: 4}\n";
  const Layout layout = parse_case(text, "a.yaml").job.layout;
  EXPECT_EQ(layout.secondary_ranks, 8);
  EXPECT_EQ(layout.weight_bits, 8);
  EXPECT_EQ(layout.gradient_bits, 4);
  const auto message = [&](const std::string& from, const std::string& to) {
    return parse_message(replaced(text, from, to), "a.yaml");
  };
  EXPECT_EQ(message("zero3", "zero2"),
            "a.yaml:5:44: layout.secondary_ranks is 8, but only layout.sharding: zero3 gathers "
            "weights and scatters gradients");
  EXPECT_EQ(
      message("weight_bits: 8", "weight_bits: 7"),
      "a.yaml:5:60: layout.weight_bits is 7; an element can be sent with 4, 6, 8, 16 or 32 bits");
  EXPECT_EQ(
      message("secondary_ranks: 8", "secondary_ranks: 5"),
      "a.yaml:5:44: layout.secondary_ranks 5 does not divide the ranks that share a copy, 32");
  EXPECT_EQ(message("secondary_ranks: 8", "secondary_ranks: 16"),
            "a.yaml:5:44: layout.secondary_ranks 16 x tp 1 = 16 ranks do not divide the 8 GPUs "
            "of a node, within which a second copy of the weights must be");
  EXPECT_EQ(message("{sharding", "{pp: 2, sharding"), "no error");
  EXPECT_EQ(parse_message("schedule: pipedream\n" + replaced(text, "{sharding", "{pp: 2, sharding"),
                          "a.yaml"),
            "a.yaml:6:27: layout.sharding: zero3 does not go with schedule 'pipedream', which "
            "keeps a version of the weights for each micro-batch under way; old versions cannot be "
            "gathered; take zero2, or a schedule that flushes");
}

TEST(BadFiles, KeysThatDisagree) {
  const std::string good = read_text_file(source_path(kExample));
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"  storage: {write: 2 TB/s, read: 2 TB/s}\n", ""},
      {"tier: storage, every: 1 h, mode: async", "tier: storage, every: 1 h, keeper: process"},
      {"class: process, ", "class: node, "},
      {"class: process, ", "class: cosmic-ray, "},
      {"{weibull: 0.7}", "{weibull: 0.7, trace: infinitehbd}"},
      {"{weibull: 0.7}", "{trace: infinitehbd}"},
      {"{weibull: 0.7}", "{trace: titan}"},
      {"{weibull: 0.7}", "{trace: no/such.csv}"},
      {"{weibull: 0.7}", "{}"},
      {"{empirical: infinitehbd}", "{}"},
      {"{empirical: infinitehbd}", "{empirical: no/such.csv}"},
      {"every: 10 iterations", "every: 2.5 iterations"},
      {"every: 10 iterations", "every: 1000000001 iterations"},
      {"class: process, ", "class: unexpected, kind: process, "},
      {"class: planned, ", "class: planned, kind: node, "},
      {"fabric: {topology",
       "slow_nodes: [{node: 1, slowdown: 2}, {node: 2, slowdown: 2}, {node: 1, slowdown: 3}]\n"
       "  fabric: {topology"},
      {"fabric: {topology",
       "degraded_nics: [{node: 0, nic: 7, factor: 0.5}, {node: 0, nic: 7, factor: 0.5}]\n"
       "  fabric: {topology"},
      {"length: 54 d, replicas: 100", "length: 36500 d, replicas: 1000000"},
      {"node: dgx-h100  ", "node: dgx-v100  "},
      {"node: dgx-h100  ", "node: {base: dgx-h100, nics: 3}"},
      {"fold: auto", "fold: auto\ncalibration2: x"},
      {"calibration: h100-published", "calibration: no/such.yaml"},
      {"price: 2 USD per gpu-hour", "price: 2 EUR per gpu-hour"},
      {"fabric: {topology", "slow_nodes: [{node: 2048, slowdown: 2}]\n  fabric: {topology"},
      {"fabric: {topology", "degraded_nics: [{node: 0, nic: 8, factor: 0.5}]\n  fabric: {topology"},
      {"fabric: {topology", "degraded_nics: [{node: 0, nic: 7, factor: 1.5}]\n  fabric: {topology"},
      {"\"assumed: not published for this job\"", "not published"},
      {"\"assumed: not published for this job\"", "\"guessed: not published\""},
      {"\"assumed: not published for this job\"", "{assumed: no}"},
  };
  std::string text;
  for (const auto& [from, to] : changes) {
    const std::string message = parse_message(replaced(good, from, to), "llama3-405b.yaml");
    EXPECT_TRUE(message.starts_with("llama3-405b.yaml:")) << from << " -> " << to << message;
    text += message + "\n";
  }
  expect_golden("disagreements.txt", text);
}

TEST(BadFiles, PlannedStopNeedsATierThatSurvivesIt) {
  const std::string good = read_text_file(source_path(kExample));
  const std::string storage = "  - {tier: storage, every: 1 h, mode: async}";
  const std::string no_storage = replaced(good, storage, "");
  EXPECT_EQ(parse_message(no_storage, "a.yaml"), "no error");  // the keeper process holds a copy
  const std::string no_keeper = replaced(no_storage, ", keeper: process", "");
  EXPECT_EQ(parse_message(no_keeper, "a.yaml"),
            "a.yaml:28:5: failures.2: failure class 'planned' stops the job as planned, but no "
            "snapshot tier survives a planned stop; add to snapshots a tier: storage, or keeper: "
            "process to a tier: host-memory");
  EXPECT_EQ(parse_message(replaced(no_keeper, "class: planned", "class: c, kind: node"), "a.yaml"),
            "no error");
}

}  // namespace
}  // namespace windtunnel
