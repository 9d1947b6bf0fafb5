#include "scenarios/language/resolve/resolve.hpp"
#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

std::string keys_of(const std::string& more) {
  const std::string text =
      "name: a\nmodel: llama3-8b\ncluster: {nodes: 4, node: dgx-h100}\nlayout: {tp: 8}\n"
      "batch: {global: 64}\n" +
      more;
  std::string keys;
  for (const Note& note : parse_case(text, "a.yaml").notes) keys += note.key + " ";
  return keys;
}

TEST(Unused, WhatOnlyACampaignUses) {
  const std::string stated =
      "snapshots: [{tier: host-memory, every: 1 h}]\nrecovery: {spares: 1}\n"
      "failures: [{class: node, rate: 3 per 1000 node-days}]\n";
  EXPECT_EQ(keys_of(stated), "snapshots, failures, recovery ");
  EXPECT_EQ(keys_of(stated + "campaign: {length: 3 d}\n"), "");
  EXPECT_EQ(keys_of(""), "");
}

// An axis of one rank sends nothing.
TEST(Unused, WhatNobodySends) {
  const auto keys = [](const std::string& layout, const std::string& more) {
    const std::string text =
        "name: a\nmodel: llama3-8b\ncluster: {nodes: 1, node: dgx-h100}\n"
        "layout: {" +
        layout + "}\nbatch: {global: 64}\n" + more;
    std::string all;
    for (const Note& note : parse_case(text, "a.yaml").notes) all += note.key + " ";
    return all;
  };
  const std::string axes = "compress: [{axis: dp, name: powersgd}, {axis: tp, name: int8}]\n";
  EXPECT_EQ(keys("tp: 8", axes), "compress.0 ");
  EXPECT_EQ(keys("tp: 1", axes), "compress.1 ");
  EXPECT_EQ(keys("tp: 2", axes), "");
  EXPECT_EQ(keys("tp: 8", "communication: {compressor: powersgd, overlap: bucketed}\n"),
            "communication.compressor, communication.overlap ");
  EXPECT_EQ(keys("tp: 4", "communication: {compressor: powersgd, overlap: bucketed}\n"), "");
  EXPECT_EQ(keys("tp: 8", "communication: {overlap: none}\n"), "") << "what goes without saying";
  EXPECT_EQ(keys("tp: 8", "communication: {collectives: {cp: {algorithm: pairwise}}}\n"),
            "communication.collectives.cp.algorithm ");
  EXPECT_EQ(keys("tp: 4", "communication: {overlap: bucketed, credit: 4 MB}\n"),
            "communication.credit ");
  // An island of one replica reduces no gradients.
  EXPECT_EQ(keys("tp: 2",
                 "sync: [{over: replica, every: 9 steps}]\ncommunication: {overlap: "
                 "bucketed}\n"),
            "communication.overlap ");
}

TEST(Unused, APriceOfNothing) {
  EXPECT_EQ(keys_of("job: {price: 2 USD per gpu-hour}\n"), "job.price ");
  EXPECT_EQ(keys_of("job: {price: 2 USD per gpu-hour, tokens: 1 T}\n"), "");
  EXPECT_EQ(keys_of("job: {price: 2 USD per gpu-hour, steps: 1000}\n"), "");
}

TEST(Unused, WhatALayoutOrAModelHasNot) {
  const auto keys = [](const std::string& model, const std::string& more) {
    const std::string text = "name: a\nmodel: " + model +
                             "\ncluster: {nodes: 4, node: dgx-h100}\nbatch: {global: 64}\n" + more;
    std::string all;
    for (const Note& note : parse_case(text, "a.yaml").notes) all += note.key + " ";
    return all;
  };
  const std::string summed = "layout: {copies_summed: step, sharding: ";
  EXPECT_EQ(keys("llama3-8b", summed + "zero3}\n"), "layout.copies_summed ");
  EXPECT_EQ(keys("llama3-8b", summed + "zero1, shard_ranks: 8}\n"), "layout.copies_summed ");
  EXPECT_EQ(keys("llama3-8b", summed + "zero3, shard_ranks: 8}\n"), "");
  EXPECT_EQ(keys("qwen3-30b-a3b", "software: {mlp_tiles: 4}\n"), "software.mlp_tiles ");
  EXPECT_EQ(keys("llama3-8b", "software: {mlp_tiles: 4}\n"), "");
  const std::string in_fp8 = "software: {fp8_activation_inputs: true}\n";
  EXPECT_EQ(keys("gpt3-175b", in_fp8), "software.fp8_activation_inputs ");
  EXPECT_EQ(keys("llama3-8b", in_fp8), "");
  EXPECT_EQ(keys("resnet-50", "attention: fa3\n"), "attention ");
  const std::string transposes = "software: {weight_transposes: false}\nprecision: ";
  EXPECT_EQ(keys("llama3-8b", transposes + "mxfp8\n"), "software.weight_transposes ");
  EXPECT_EQ(keys("llama3-8b", transposes + "fp8\n"), "");
  const std::string shards = "software: {fp32_shards: true}\nlayout: {sharding: ";
  EXPECT_EQ(keys("llama3-8b", shards + "none}\n"), "software.fp32_shards ");
  EXPECT_EQ(keys("llama3-8b", shards + "zero3}\n"), "");
  EXPECT_EQ(keys("llama3-8b", "recompute: [layernorm, moe_act]\n"), "recompute ");
  EXPECT_EQ(keys("llama3-8b", "recompute: [layernorm, mlp_act]\n"), "");
  EXPECT_EQ(keys("llama3-8b", "recompute: selective\n"), "");
  EXPECT_EQ(keys("qwen3-30b-a3b", "recompute: [mlp]\n"), "recompute ");
  EXPECT_EQ(keys("deepseek-v3", "recompute: [mla_up_proj, shared_experts, mlp]\n"), "");
}

// Each of these keys has an effect together with the key that it belongs to, and a note without it.
TEST(Unused, WhatBelongsToAnotherKey) {
  const std::string campaign =
      "failures: [{class: node, rate: 3 per 1000 node-days}]\ncampaign: {length: 3 d}\n";
  const std::string streamed = campaign + "recovery: {stream: weights}\n";
  EXPECT_EQ(keys_of(streamed), "recovery.stream ");
  EXPECT_EQ(keys_of(streamed + "sync: [{over: node, every: 10 steps}]\n"), "");
  const std::string relaid = campaign + "recovery: {relayout: [{dp: 2}], when_no_spare: ";
  EXPECT_EQ(keys_of(relaid + "wait}\n"), "recovery.relayout ");
  EXPECT_EQ(keys_of(relaid + "relayout}\n"), "");
  EXPECT_EQ(keys_of("redundancy: {scheme: none, copies: 3, stragglers: 2}\n"),
            "redundancy.stragglers, redundancy.copies ");
  EXPECT_EQ(keys_of("redundancy: {scheme: replicated, copies: 2}\n"), "");
  EXPECT_EQ(keys_of("communication: {robust: {rule: none, faulty: 99}}\n"),
            "communication.robust.faulty ");
  EXPECT_EQ(keys_of("communication: {robust: {rule: median, faulty: 1}}\n"), "");
}

TEST(Unused, WhatVolunteersDoNotTake) {
  const std::string volunteers =
      "volunteers: {peers: [{name: a, count: 8, up: 1 Gb/s, down: 1 Gb/s}]}\n";
  EXPECT_EQ(keys_of(volunteers), "");
  EXPECT_EQ(keys_of(volunteers + "communication: {compressor: fp8}\n"),
            "communication.compressor ");
}

}  // namespace
}  // namespace windtunnel
