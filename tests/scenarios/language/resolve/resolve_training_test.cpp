#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/workload/training.hpp"
#include "scenarios/language/case.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string training_text(const std::string& train, const std::string& rest = {},
                          const std::string& model = {}) {
  return fmt::format(
      "name: a\nmodel: {{layers: 12, hidden: 4096, heads: 32, vocabulary: 32000, sequence: "
      "1024{}}}\n"
      "cluster: {{nodes: 1, node: dgx-h100}}\nbatch: {{global: 64}}\n{}\n{}\n",
      model, train.empty() ? "" : "train: " + train, rest);
}

Case case_of(const std::string& train, const std::string& rest = {},
             const std::string& model = {}) {
  return parse_case(training_text(train, rest, model), "a.yaml");
}

std::string training_fault(const std::string& train, const std::string& rest = {},
                           const std::string& model = {}) {
  return error_of([&] { case_of(train, rest, model); });
}

TEST(ResolveTraining, NothingSaidIsAllTrained) {
  EXPECT_EQ(case_of("").job.training, nullptr);
  EXPECT_EQ(case_of("{method: backward}").job.training, nullptr);
  EXPECT_EQ(case_of("{adapter: none, loss: cross-entropy}").job.training, nullptr);
}

TEST(ResolveTraining, PartsAreNamed) {
  const std::string untied = ", tied_embeddings: false";
  const auto training =
      case_of("{frozen: [embedding, layers 0-3, layer 5, 'layers 7']}", "", untied).job.training;
  ASSERT_NE(training, nullptr);
  EXPECT_TRUE(training->frozen_embedding);
  EXPECT_FALSE(training->frozen_head);
  const std::vector<bool> frozen = {true,  true, true,  true,  false, true,
                                    false, true, false, false, false, false};
  EXPECT_EQ(training->frozen_layers, frozen);
}

TEST(ResolveTraining, AnAdapterHasItsMatrices) {
  const auto adapter_of = [](const char* text) { return case_of(text).job.training->adapter; };
  const Adapter all = adapter_of("{adapter: lora}");
  EXPECT_EQ(all, (Adapter{.kind = AdapterKind::lora, .rank = 16, .per_product = true}));
  const Adapter some = adapter_of("{adapter: {kind: dora, rank: 4, on: [q, v, down]}}");
  EXPECT_EQ(some.rank, 4);
  EXPECT_TRUE(some.queries && some.values && some.down);
  EXPECT_FALSE(some.keys || some.projection || some.up);
  EXPECT_TRUE(adapter_of("{adapter: {kind: lora, on: [qkv]}}").keys);
}

// Just One Byte is a step without a backward pass, under either name.
TEST(ResolveTraining, ZerothOrderStepsExchangeANumber) {
  for (const auto& [train, rest] : {std::pair("{method: zeroth-order}", ""),
                                    std::pair("", "communication: {compressor: one-byte}")}) {
    const Job job = case_of(train, rest).job;
    ASSERT_NE(job.training, nullptr);
    EXPECT_EQ(job.training->method, TrainingMethod::zeroth_order);
    EXPECT_EQ(job.communication.compressors.dp.name, "one-byte");
  }
}

TEST(ResolveTraining, ItIsPartOfWhatACaseIs) {
  const auto key = [](const char* text) { return case_of(text).key; };
  EXPECT_NE(key("{adapter: {kind: lora, rank: 8}}"), key("{adapter: {kind: lora, rank: 16}}"));
  EXPECT_NE(key("{adapter: {kind: lora, on: [q]}}"), key("{adapter: {kind: lora, on: [v]}}"));
  EXPECT_NE(key("{frozen: [layers 0-3]}"), key("{frozen: [layers 0-4]}"));
  EXPECT_NE(key("{loss: {chunks: 2}}"), key("{loss: {chunks: 4}}"));
}

TEST(ResolveTraining, DefaultsAreExplained) {
  const auto open = [](const char* text) {
    std::string keys;
    for (const ResolvedValue& value : case_of(text).values) {
      if (!value.is_default || !value.key.starts_with("train.")) continue;
      keys += fmt::format("{} {} ", value.key.substr(6), value.value);
    }
    return keys;
  };
  EXPECT_EQ(open("{adapter: lora}"),
            "method backward adapter.rank 16 adapter.dropout false loss.kind cross-entropy "
            "loss.chunks 1 ");
  EXPECT_EQ(open("{frozen: [layer 1]}"), "method backward loss.kind cross-entropy loss.chunks 1 ");
  EXPECT_EQ(open("{loss: {kind: contrastive, form: ring, width: 512}}"),
            "method backward loss.tile 1024 ");
}

TEST(ResolveTraining, WhatCannotBeIsRefusedAtItsKey) {
  struct Fault {
    const char* train;
    const char* why;
    const char* rest = "";
    const char* model = "";
  };
  const Fault faults[] = {
      {"{frozen: [tail]}", "a.yaml:5:18: train.frozen.0: 'tail' is not a part of a model"},
      {"{frozen: [layers 4-12]}", "has layers 0 to 11"},
      {"{frozen: [layers 4-3]}", "has layers 0 to 11"},
      {"{frozen: [embedding, layers, head]}", "nothing is left to be trained"},
      {"{frozen: [embedding]}", "freeze both or neither"},
      {"{adapter: {kind: lora, rank: 5000}}", "above the width 4096"},
      {"{adapter: {kind: none, rank: 8}}", "has no effect without an adapter"},
      {"{adapter: {kind: lora, on: []}}", "names no matrix"},
      {"{method: zeroth-order}", "a.yaml:6:20: layout.sharding", "layout: {sharding: zero1}"},
      {"{method: zeroth-order}", "exchanges only a number",
       "communication: {compressor: powersgd}"},
      {"{method: backward}", "take zeroth-order", "communication: {compressor: one-byte}"},
      {"{loss: {kind: contrastive}}", "tied_embeddings: true", "", ", tied_embeddings: false"},
      {"{loss: {kind: contrastive}}", "before any backward pass", "layout: {pp: 2}"},
      {"{loss: {kind: contrastive, chunks: 4}}", "a contrastive loss is divided by its form"},
      {"{loss: {kind: contrastive, tile: 64}}", "applies to tiles; set form: tiled or ring"},
      {"{loss: {form: ring}}", "applies to kind: contrastive"},
      {"{loss: {chunks: 2000}}", "more than the 1024 tokens"},
  };
  for (const Fault& fault : faults) {
    const std::string why = training_fault(fault.train, fault.rest, fault.model);
    EXPECT_THAT(why, HasSubstr(fault.why)) << fault.train;
    EXPECT_THAT(why, StartsWith("a.yaml:")) << fault.train;
  }
}

TEST(ResolveTraining, ATableOfLayersHasFrozenLayers) {
  const auto text = [](const char* train) {
    return fmt::format(
        "name: a\nmodel: resnet-50\ncluster: {{nodes: 1, node: dgx-h100}}\n"
        "batch: {{global: 64, micro: 8}}\ntrain: {}\n",
        train);
  };
  EXPECT_NE(parse_case(text("{frozen: [layers 0-20]}"), "a.yaml").job.training, nullptr);
  for (const char* train :
       {"{adapter: lora}", "{frozen: [embedding]}", "{loss: {chunks: 2}}", "{frozen: [layers]}"}) {
    EXPECT_THAT(error_of([&] { parse_case(text(train), "a.yaml"); }), StartsWith("a.yaml:5:"));
  }
}

}  // namespace
}  // namespace windtunnel
