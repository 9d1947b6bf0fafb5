#include "scenarios/language/text/scenario_text.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

TEST(ScenarioTextOf, IsReadAsTheSameTree) {
  const std::string text =
      "name: x\nmodel: {base: gpt2, layers: 3}\ncluster: {nodes: 2, node: {base: dgx-h100}}\n"
      "snapshots:\n  - {tier: storage, every: 1 h}\n  - {tier: local-disk, every: 10 min}\n";
  const std::string written = scenario_text_of(parse_document(text, "a.yaml"));
  EXPECT_EQ(flow_text(parse_document(written, "b.yaml")),
            flow_text(parse_document(text, "a.yaml")));
  EXPECT_EQ(written,
            "name: x\nmodel: {base: gpt2, layers: 3}\ncluster:\n  nodes: 2\n  node: {base: "
            "dgx-h100}\nsnapshots:\n  - {tier: storage, every: 1 h}\n  - {tier: local-disk, every: "
            "10 min}\n");
}

TEST(ScenarioTextOf, HasCommentsAboveTheirParts) {
  const std::string written =
      scenario_text_of(parse_document("name: x\nmodel: gpt2\n", "a.yaml"), {{"model", "its size"}});
  EXPECT_EQ(written, "name: x\n# its size\nmodel: gpt2\n");
}

}  // namespace
}  // namespace windtunnel
