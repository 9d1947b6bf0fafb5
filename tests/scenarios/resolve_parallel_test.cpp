#include <gtest/gtest.h>

#include "scenarios/case.hpp"

namespace windtunnel {
namespace {

// Two nodes; `more` follows on lines 4 and on.
std::string text_with(const std::string& more) {
  return "name: a\ncluster: {nodes: 2, node: dgx-h100}\nbatch: {global: 64}\n" + more;
}

std::string refusal(const std::string& more) {
  try {
    parse_case(text_with(more), "a.yaml");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ResolveParallel, FormsOfContextAndRouting) {
  const Job job =
      parse_case(text_with("model: {base: mixtral-8x7b, moe: {zipf: 0.8, hot_experts: 1,"
                           " locality: 0.7, shortcut: true}}\n"
                           "layout: {cp: 16, context: usp, ulysses: 8, ep: 8}\n"),
                 "a.yaml")
          .job;
  EXPECT_EQ(job.layout.context, ContextForm::usp);
  EXPECT_EQ(job.layout.ulysses_ranks(), 8);
  EXPECT_EQ(job.layout.ring_ranks(), 2);
  EXPECT_EQ(job.layout.ep_tokens, ExpertTokens::divided);
  EXPECT_DOUBLE_EQ(job.model.moe.zipf, 0.8);
  EXPECT_EQ(job.model.moe.hot_experts, 1);
  EXPECT_DOUBLE_EQ(job.model.moe.locality.value_or(-1), 0.7);
  EXPECT_TRUE(job.model.moe.shortcut);
  const Job plain = parse_case(text_with("model: llama3-8b\nlayout: {cp: 2}\n"), "a.yaml").job;
  EXPECT_EQ(plain.layout.context, ContextForm::ring);
  EXPECT_FALSE(plain.model.moe.locality.has_value());
  const Job linear = parse_case(text_with("model: {base: llama3-8b, attention: linear}\n"
                                          "layout: {cp: 2, context: lasp}\n"),
                                "a.yaml")
                         .job;
  EXPECT_EQ(linear.model.attention, AttentionKernel::linear);
}

TEST(ResolveParallel, RefusalsNameTheirPlace) {
  EXPECT_EQ(refusal("model: llama3-8b\nlayout:\n  cp: 16\n  context: usp\n  ulysses: 3\n"),
            "a.yaml:8:12: layout.ulysses 3 does not divide layout.cp 16");
  EXPECT_TRUE(refusal("model: llama3-8b\nlayout:\n  cp: 16\n  context: rsa\n")
                  .starts_with("a.yaml:7:12: layout.context rsa does not go with the attention"));
  EXPECT_EQ(refusal("model: llama3-8b\nlayout:\n  cp: 2\n  context: ulises\n"),
            "a.yaml:7:12: unknown context 'ulises'; did you mean 'ulysses'?");
  EXPECT_TRUE(refusal("model: {base: mixtral-8x7b, moe: {hot_experts: 2}}\nlayout: {ep: 8}\n")
                  .starts_with("a.yaml:4:48: model.moe.hot_experts needs model.moe.zipf"));
  EXPECT_TRUE(refusal("model: mixtral-8x7b\nlayout:\n  ep: 8\n  tp: 2\n"
                      "  sequence_parallel: true\n  ep_tokens: dropped\n")
                  .starts_with("a.yaml:9:14: layout.ep_tokens: under layout.sequence_parallel"));
  EXPECT_TRUE(refusal("model: llama3-8b\nlayout: {sharding: zero1}\n"
                      "communication:\n  embeddings: all-to-all\n")
                  .starts_with("a.yaml:7:15: communication.embeddings does not go with layout"));
}

}  // namespace
}  // namespace windtunnel
