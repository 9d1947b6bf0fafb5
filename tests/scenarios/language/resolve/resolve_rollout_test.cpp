#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "models/workload/rollout.hpp"
#include "scenarios/language/case.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using testing::HasSubstr;

constexpr const char* kUsual =
    "prompts: 8, samples: 4, prompt_length: 200, output: {median: 500, sigma: 0.5}";

std::string rollout_text(const std::string& rollout, const std::string& rest = {}) {
  return fmt::format(
      "name: a\nmodel: {{layers: 12, hidden: 4096, heads: 32, vocabulary: 32000, sequence: 4096}}\n"
      "cluster: {{nodes: 4, node: dgx-h100}}\nlayout: {{tp: 8}}\nbatch: {{global: 32}}\n"
      "rollout: {{{}}}\n{}\n",
      rollout, rest);
}

RolloutSpec rollout_of(const std::string& rollout) {
  return *parse_case(rollout_text(rollout), "a.yaml").asked.find<RolloutSpec>();
}

std::string rollout_fault(const std::string& rollout, const std::string& rest = {}) {
  return error_of([&] { parse_case(rollout_text(rollout, rest), "a.yaml"); });
}

TEST(ResolveRollout, DefaultsAndValues) {
  const RolloutSpec usual = rollout_of(fmt::format("nodes: 2, {}", kUsual));
  EXPECT_EQ(usual.mode, RolloutMode::synchronous);
  EXPECT_EQ(usual.nodes, 2);
  EXPECT_EQ(usual.batch(), 32);
  EXPECT_EQ(usual.output.longest, 4096 - 200);  // the rest of the learner's sequence
  EXPECT_EQ(usual.engine.most_sequences, 256);
  EXPECT_FALSE(usual.engine.precision.has_value());
  EXPECT_TRUE(usual.engine.cuda_graphs);
  EXPECT_EQ(usual.weights, WeightPath::broadcast);
  const RolloutSpec stated =
      rollout_of(fmt::format("nodes: 2, mode: asynchronous, staleness: 3, keep_cache: true, "
                             "weights: direct, engine: {{tp: "
                             "4, memory: 0.8, sequences: 64, precision: fp8, cuda_graphs: "
                             "false}}, {}",
                             kUsual));
  EXPECT_EQ(stated.mode, RolloutMode::asynchronous);
  EXPECT_EQ(stated.staleness, 3);
  EXPECT_TRUE(stated.keeps_cache);
  EXPECT_EQ(stated.weights, WeightPath::direct);
  EXPECT_EQ(stated.engine.tp, 4);
  EXPECT_EQ(stated.engine.memory_share, 0.8);
  EXPECT_EQ(stated.engine.precision, Precision::fp8);
  EXPECT_FALSE(stated.engine.cuda_graphs);
  const auto weights = [](const char* machine, const char* path) {
    return rollout_of(fmt::format("{}, weights: {}, {}", machine, path, kUsual)).weights;
  };
  EXPECT_EQ(weights("nodes: 2", "packed"), WeightPath::packed);
  EXPECT_EQ(weights("nodes: 2", "reshard"), WeightPath::reshard);
  EXPECT_EQ(weights("colocated: true", "packed"), WeightPath::packed);
  EXPECT_EQ(parse_case("name: a\nmodel: llama3-8b\ncluster: {nodes: 2, node: dgx-h100}\nlayout: "
                       "{tp: 8}\nbatch: {global: 8}\n",
                       "a.yaml")
                .asked.find<RolloutSpec>(),
            nullptr);
}

TEST(ResolveRollout, LengthsByTheirForms) {
  const auto output = [](const char* text) {
    return rollout_of(fmt::format("nodes: 2, prompts: 8, prompt_length: 200, output: {}", text))
        .output;
  };
  const LengthDistribution tail = output("{median: 500, p99: 3000, longest: 3500}");
  EXPECT_NEAR(tail.median * std::exp(2.3263478740408408 * tail.sigma), 3000, 1e-9);
  const LengthDistribution mean = output("{mean: 500, sigma: 1}");
  EXPECT_NEAR(mean.median * std::exp(0.5), 500, 1e-9);
  EXPECT_EQ(output("{buckets: [{shortest: 10, longest: 100, share: 0.4}, {shortest: 200, longest: "
                   "300, share: 0.6}]}")
                .buckets.size(),
            2u);
}

// The loop is not part of an iteration, so that a sweep over the loop simulates the iteration once.
TEST(ResolveRollout, TheIterationIsAnyonesWithoutIt) {
  const Case two = parse_case(rollout_text(fmt::format("nodes: 2, {}", kUsual)), "a.yaml");
  const Case four = parse_case(rollout_text(fmt::format("nodes: 4, {}", kUsual)), "a.yaml");
  EXPECT_EQ(two.table, four.table);
  EXPECT_NE(two.key, four.key);
}

TEST(ResolveRollout, MistakesHaveTheirPlaceAndTheirRemedy) {
  const auto with = [](const char* rollout) { return fmt::format("{}, {}", rollout, kUsual); };
  EXPECT_THAT(rollout_fault(kUsual), HasSubstr("states neither nodes nor 'colocated: true'"));
  EXPECT_THAT(rollout_fault(with("nodes: 2, colocated: true")), HasSubstr("leave out nodes"));
  EXPECT_THAT(rollout_fault(with("colocated: true, mode: asynchronous")),
              HasSubstr("rollout.mode: colocated engines and the job take turns"));
  EXPECT_THAT(rollout_fault(with("nodes: 2, staleness: 2")),
              HasSubstr("rollout.staleness: applies to mode: asynchronous"));
  EXPECT_THAT(rollout_fault(with("nodes: 2, offload: true")),
              HasSubstr("applies to colocated engines"));
  EXPECT_THAT(rollout_fault(with("colocated: true, weights: direct")),
              HasSubstr("rollout.weights: has no effect"));
  EXPECT_THAT(rollout_fault(with("nodes: 2, engine: {tp: 3}")), HasSubstr("a.yaml:6:"));
  EXPECT_THAT(rollout_fault("nodes: 2, prompts: 8, prompt_length: 4096, output: {median: 500}"),
              HasSubstr("leaves no tokens for an output after the 4096 of a prompt"));
  EXPECT_THAT(rollout_fault(
                  "nodes: 2, prompts: 8, prompt_length: 200, output: {median: 500, longest: 4000}"),
              HasSubstr("4000 tokens after a prompt of 200 are more than batch.sequence 4096"));
  EXPECT_THAT(rollout_fault("nodes: 2, prompts: 8, prompt_length: 200, output: {sigma: 1}"),
              HasSubstr("has neither a median, a mean nor buckets"));
  EXPECT_THAT(
      rollout_fault("nodes: 2, prompts: 8, prompt_length: 200, output: {median: 5, mean: 6}"),
      HasSubstr("keep one of them"));
  EXPECT_THAT(
      rollout_fault("nodes: 2, prompts: 8, prompt_length: 200, output: {median: 500, p99: 400}"),
      HasSubstr("is below the median"));
  EXPECT_THAT(
      rollout_fault(
          "nodes: 2, prompts: 8, prompt_length: 200, output: {median: 5, p99: 50, sigma: 1}"),
      HasSubstr("and replaces sigma"));
  EXPECT_THAT(rollout_fault("nodes: 2, prompt_length: 200, output: {median: 5}"),
              HasSubstr("rollout has no 'prompts'"));
  EXPECT_THAT(rollout_fault("nodes: 2, prompts: 1000000, samples: 2, prompt_length: 200, output: "
                            "{median: 5}"),
              HasSubstr("more than a million"));
  EXPECT_THAT(
      rollout_fault("nodes: 2, prompts: 8, prompt_length: 200, output: {buckets: [{shortest: 5, "
                    "longest: 9, share: 0.5}]}"),
      HasSubstr("add up to 0.5, not 1"));
}

TEST(ResolveRollout, GpusOfEnginesSupportTheirPrecision) {
  const auto fault = [](const char* cluster, const char* engines) {
    const std::string text = fmt::format(
        "name: a\nmodel: llama3-8b\ncluster: {{{}}}\nlayout: {{tp: 8}}\nbatch: {{global: 32}}\n"
        "rollout: {{engine: {{precision: fp8}}, {}, {}}}\n",
        cluster, engines, kUsual);
    return error_of([&] { parse_case(text, "a.yaml"); });
  };
  const std::string refused =
      "a.yaml:6:31: rollout.engine.precision: gpu 'a100-80' does not support precision fp8";
  EXPECT_EQ(fault("nodes: 4, node: dgx-a100", "nodes: 2"), refused);
  EXPECT_EQ(fault("nodes: 4, node: dgx-a100", "colocated: true"), refused);
  EXPECT_EQ(fault("nodes: 4, node: dgx-h100", "nodes: 2"), "no error");
  const char* pools =
      "pools: [{name: new, nodes: 2, node: dgx-h100}, {name: old, nodes: 2, node: dgx-a100}]";
  EXPECT_EQ(fault(pools, "nodes: 2, pool: old"), refused);
  EXPECT_EQ(fault(pools, "colocated: true"), refused);
  EXPECT_EQ(fault(pools, "nodes: 2, pool: new"), "no error");
}

TEST(ResolveRollout, WhatEnginesAreNotModelledFor) {
  const std::string rollout = fmt::format("nodes: 2, {}", kUsual);
  EXPECT_THAT(rollout_fault(rollout, "sync: [{over: replica, every: 10 steps}]"),
              HasSubstr("no multiple of the 4 islands (sync)"));
  EXPECT_THAT(error_of([&] {
                parse_case(fmt::format("name: a\nmodel: resnet-50\ncluster: {{nodes: 4, node: "
                                       "dgx-h100}}\nbatch: {{global: 32}}\nrollout: {{{}}}\n",
                                       rollout),
                           "a.yaml");
              }),
              HasSubstr("the model is a table of layers"));
}

}  // namespace
}  // namespace windtunnel
