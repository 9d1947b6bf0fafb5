#include "sim/study/plan/plan_basis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "models/base/error.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/library/library.hpp"

namespace windtunnel {
namespace {

PlanRequest request() {
  return {.model = "llama3-8b", .nodes = 4, .node = "dgx-h100", .tokens = 1e11};
}

TEST(PlanBasis, TellsOnlyWhatNobodySaid) {
  const PlanBasis open = plan_basis(request());
  PlanRequest stated = request();
  stated.framework = "any";
  stated.sequence = 4096;
  stated.batch_tokens = 1e6;
  stated.price_usd_per_gpu_h = 3;
  stated.headroom = 0.2;
  stated.set = {{"precision", "fp8"}, {"failures", "[]"}, {"cluster.fabric", "full-bisection"}};
  const PlanBasis closed = plan_basis(stated);
  EXPECT_EQ(open.defaults.size() - closed.defaults.size(), 9U);
  EXPECT_EQ(closed.sequence, 4096);
  EXPECT_EQ(closed.headroom, 0.2);
  for (const TakenDefault& each : open.defaults) {
    EXPECT_FALSE(each.source.empty()) << each.what;
    EXPECT_NE(each.change.find("--"), std::string::npos) << each.what;
  }
}

TEST(PlanBasis, APartOfARackHasItsOwnGpus) {
  PlanRequest part = request();
  part.nodes = 1;
  part.node = "gb200-nvl72";
  part.set = {{"cluster.node.gpus", "64"}, {"cluster.node.nics", "64"}};
  EXPECT_EQ(plan_basis(part).node.gpus, 64);
}

// The default precision is one that the GPU multiplies in, and the advised option is another one
// that it has.
TEST(PlanBasis, ThePrecisionIsOneOfTheGpu) {
  struct Taken {
    const char* node;
    const char* precision;
    const char* option;
  };
  for (const Taken& of : {Taken{"dgx-h100", "bf16", "--set precision=fp8"},
                          Taken{"dgx-a100", "bf16", "--set precision=fp16"},
                          Taken{"dgx-v100", "fp16", "--set precision=fp32"}}) {
    PlanRequest older = request();
    older.node = of.node;
    const PlanBasis basis = plan_basis(older);
    const auto taken = std::ranges::find(basis.defaults, "precision", &TakenDefault::what);
    ASSERT_NE(taken, basis.defaults.end());
    EXPECT_EQ(taken->value, of.precision);
    EXPECT_EQ(taken->change, of.option);
  }
}

// 50 M tokens would be only 12 steps with a batch for pre-training.
TEST(PlanBasis, FewTokensAreTakenInSmallBatches) {
  PlanRequest few = request();
  few.tokens = 5e7;
  const PlanBasis tuned = plan_basis(few);
  EXPECT_EQ(tuned.batch_tokens, 64 * 8192);
  EXPECT_NE(few_steps_text(tuned, tuned.batch_tokens).find("only 96 steps"), std::string::npos);
  few.tokens = 2e9;
  const PlanBasis more = plan_basis(few);
  EXPECT_EQ(more.batch_tokens, 2e6);
  EXPECT_EQ(few_steps_text(more, more.batch_tokens), "");
  EXPECT_NE(few_steps_text(more, 4e7), "");  // --batch asked for so large a batch
  EXPECT_EQ(plan_basis(request()).batch_tokens, 4e6);
  few.nodes = 256;
  few.tokens = 1e6;
  EXPECT_EQ(plan_basis(few).batch_tokens, 256 * 8192);
}

// Each number of nodes gets a batch near the stated one, and a layout that divides it. On 2,880
// GPUs 32 layers and 8 groups of heads leave only multiples of 45 replicas.
TEST(PlanBasis, BatchesAreShared) {
  PlanBasis basis = plan_basis(request());
  const double asked = basis.batch_tokens / basis.sequence;
  for (int nodes = 1; nodes <= 64; ++nodes) {
    const PlanPoint point = {.nodes = nodes, .batch = batch_on(basis, nodes)};
    EXPECT_NEAR(point.batch / asked, 1, 0.1) << nodes;
    const std::vector<Overrides> splits = layer_splits(basis, point);
    ASSERT_EQ(splits.size(), 1U) << nodes;  // splits of 32 layers
    const int ranks = std::stoi(splits[0][0].second) * std::stoi(splits[0][1].second);
    ASSERT_EQ(nodes * 8 % ranks, 0) << nodes;
    EXPECT_EQ(point.batch % (nodes * 8 / ranks), 0) << nodes;
  }
  basis.node.gpus = 72;
  EXPECT_EQ(batch_on(basis, 40), 495);
}

TEST(PlanBasis, LayersThatHardlyDivideMayLackSome) {
  PlanBasis basis = plan_basis(request());
  basis.model.layers = 126;
  const std::vector<Overrides> splits = layer_splits(basis, {.nodes = 32, .batch = 512});
  ASSERT_EQ(splits.size(), 3U);
  EXPECT_EQ(splits[2][2].second, "-1");  // 128 / pp
  basis.model.layers = 61;               // DeepSeek-V3's, split as 64
  const std::vector<Overrides> of_prime = layer_splits(basis, {.nodes = 32, .batch = 512});
  ASSERT_EQ(of_prime.size(), 4U);
  EXPECT_EQ(of_prime[3][2].second + of_prime[3][3].second, "-1-2");
  basis.model.layers = 42;  // 45 is no easier to split
  EXPECT_EQ(layer_splits(basis, {.nodes = 32, .batch = 512}).size(), 3U);
}

// The reader accepts the scenario of each framework, with and without comments.
TEST(PlanBasis, ScenariosCanBeRead) {
  for (const Framework& framework : frameworks()) {
    PlanRequest own = request();
    own.framework = framework.name;
    const auto node = std::ranges::find_if(
        library_nodes(), [&](const NodeSpec& each) { return framework.runs_on(each.gpu.name); });
    ASSERT_NE(node, library_nodes().end()) << framework.name;
    if (!framework.runs_on("h100")) own.node = node->name;
    own.set = {{"cluster.node.host_memory", "1 TB"},
               {"precision", framework.runs_on("h100") ? "fp8" : "bf16"}};
    const PlanBasis basis = plan_basis(own);
    for (const UsualPart& stack : usual_snapshots()) {
      PlanPoint point = {.nodes = 3, .spares = 1, .batch = 480};
      point.found = {{"layout.tp", "1"}, {"layout.pp", "1"}, {"layout.sharding", "zero1"}};
      point.snapshots = stack;
      point.campaign_s = 1e6;
      point.trials = 4;
      const Case plain = parse_case(scenario_text(basis, point), "plan", own.set);
      const Case complete =
          parse_case(complete_scenario_text(basis, point, comments_of(basis)), "plan");
      EXPECT_EQ(plain.key, complete.key) << framework.name << ", " << stack.name;
      EXPECT_EQ(plain.job.recovery.spares, 1);
      EXPECT_EQ(std::lround(plain.job.tokens), 100000000000);
    }
  }
}

// The software must also agree where a condition decides: the buckets for GPT-OSS differ from the
// entry's general ones.
TEST(PlanBasis, TheSoftwareIsWhatAScenarioThatNamesItHas) {
  PlanRequest own = request();
  own.model = "gpt-oss-120b";
  own.framework = "megatron-bridge";
  const PlanBasis basis = plan_basis(own);
  PlanPoint point = {.nodes = 4, .batch = 32};
  point.found = {{"layout.tp", "1"}, {"layout.pp", "1"}, {"layout.ep", "32"}};
  const Case planned = parse_case(scenario_text(basis, point), "plan");
  EXPECT_EQ(planned.job.communication.bucket_elements, 768e6);
  const auto taken = std::ranges::find(basis.defaults, "software", &TakenDefault::what);
  ASSERT_NE(taken, basis.defaults.end());
  EXPECT_NE(taken->value.find("communication.bucket_elements: 768"), std::string::npos)
      << taken->value;
  EXPECT_EQ(taken->value.find("134"), std::string::npos) << taken->value;
  // Keys that the user sets under either name are kept.
  const Case bytes =
      parse_case(scenario_text(basis, point), "plan", {{"communication.bucket", "50 MB"}});
  EXPECT_EQ(bytes.job.communication.bucket_elements, 0);
}

// A key that the framework leaves open is not reported as its choice.
TEST(PlanBasis, WhatTheFrameworkLeavesOpenOfExpertsIsTold) {
  PlanRequest own = request();
  own.model = "mixtral-8x7b";
  own.framework = "megatron";
  const PlanBasis basis = plan_basis(own);
  const auto taken = std::ranges::find(basis.defaults, "dispatch to experts", &TakenDefault::what);
  ASSERT_NE(taken, basis.defaults.end());
  EXPECT_EQ(taken->source, "assumed: megatron does not state it");
  EXPECT_EQ(taken->change, "--set software.ep_merged=true (DeepEP)");
}

TEST(PlanBasis, WhatIsSearchedMustNotBeSet) {
  for (const char* key :
       {"layout.tp", "schedule", "batch.micro", "recompute", "snapshots", "recovery.spares",
        "job.tokens", "campaign.length", "cluster.nodes", "cluster.node", "model"}) {
    PlanRequest own = request();
    own.set = {{key, "1"}};
    EXPECT_THROW(plan_basis(own), Error) << key;
  }
}

}  // namespace
}  // namespace windtunnel
