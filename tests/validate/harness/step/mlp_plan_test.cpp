#include "validate/harness/step/mlp_plan.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"
#include "scenarios/language/case.hpp"
#include "tests/support/error_of.hpp"
#include "validate/harness/ranks/own_core.hpp"
#include "validate/harness/step/mlp_measure.hpp"

namespace windtunnel {
namespace {

const std::string kScenario = std::string(WINDTUNNEL_SOURCE_DIR) + "/scenarios/mlp-cpu.yaml";

MlpPlan plan_with(const Overrides& overrides) {
  return mlp_plan(load_case(kScenario, overrides).job);
}

std::string refusal(const Overrides& overrides) {
  return error_of([&] { plan_with(overrides); });
}

TEST(MlpPlan, HasTheLayersOfTheScenario) {
  const MlpPlan plan = plan_with({});
  ASSERT_EQ(plan.layers.size(), 4U);
  EXPECT_EQ(plan.layers.front().inputs, 1024);
  EXPECT_EQ(plan.layers.back().outputs, 1024);
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    EXPECT_EQ(plan.layers[i].relu, i + 1 < plan.layers.size());
    if (i > 0) {
      EXPECT_EQ(plan.layers[i].inputs, plan.layers[i - 1].outputs);
    }
  }
  EXPECT_EQ(plan.ranks, 2);
  EXPECT_EQ(plan.rank_batch, 64);
}

// Every gradient goes once, in the order of the backward pass, in buckets of 8 MB or more but for
// the last; all in one where nothing goes before the backward pass has ended.
TEST(MlpPlan, BucketsAreFilledFromTheLastLayerOn) {
  const MlpPlan plan = plan_with({});
  EXPECT_GT(plan.buckets.size(), 2U);
  int next = 0;
  for (size_t i = 0; i < plan.buckets.size(); ++i) {
    double bytes = 0;
    for (const int tensor : plan.buckets[i]) {
      EXPECT_EQ(tensor, next++);
      bytes += 4 * plan.tensors[static_cast<size_t>(tensor)].shape.elements();
    }
    if (i + 1 < plan.buckets.size()) {
      EXPECT_GE(bytes, 8e6);
    }
  }
  EXPECT_EQ(next, static_cast<int>(plan.tensors.size()));
  EXPECT_EQ(plan_with({{"communication.overlap", "none"}}).buckets.size(), 1U);
}

TEST(MlpPlan, SaysWhatDoesNotRun) {
  EXPECT_EQ(refusal({}), "no error");
  EXPECT_EQ(refusal({{"communication.compressor", "int8"}}), "no error");
  const std::vector<std::pair<Overrides, std::string>> refused = {
      {{{"communication.overlap", "bucketed"}}, "set communication.overlap: blocking"},
      {{{"communication.compressor", "demo"}}, "take one of"},
      {{{"communication.compressor", "fp8"}}, "take int8"},
      {{{"batch.micro", "32"}}, "batch.micro to 64"},
      {{{"model", "resnet-50"}}, "is no linear layer"},
      {{{"precision", "bf16"}}, "precision"},
      {{{"software.optimizer", "momentum"}}, "software.optimizer"},
      {{{"layout.sharding", "zero1"}}, "layout.sharding: none"}};
  for (const auto& [overrides, reason] : refused) {
    SCOPED_TRACE(overrides.front().first);
    const std::string said = refusal(overrides);
    EXPECT_NE(said, "no error");
    EXPECT_NE(said.find(reason), std::string::npos) << said;
  }
}

TEST(MlpMeasure, CountsWhatItRuns) {
  MlpPlan plan = mlp_plan({{32, 48, true, true}, {48, 16, true, false}}, 2, 8);
  plan.compressor = {.name = "int8"};
  plan.buckets = {{0, 1, 2, 3}};
  if (usable_cores() < plan.ranks) {
    EXPECT_THROW(measure_mlp_step(plan, 0.1), Error);
    return;
  }
  const MeasuredStep measured = measure_mlp_step(plan, 0.1);
  EXPECT_GE(measured.all_steps, 20);
  EXPECT_GE(measured.steps, 10);
  EXPECT_LE(measured.steps, measured.all_steps);
  EXPECT_GE(measured.disturbed, 0);
  EXPECT_LE(measured.disturbed, 1);
  EXPECT_GT(measured.step.median_s, 0);
  EXPECT_LE(measured.step.low_s, measured.step.median_s);
  for (const double seconds : measured.phases.by_phase) EXPECT_GT(seconds, 0);
  EXPECT_GE(measured.waiting_s, 0);
  const std::string work = to_text(measured.work);
  // Forward, both gradients; the first layer's input has none.
  EXPECT_NE(work.find("gemm type=fp32 m=8 n=48 k=32 > "), std::string::npos);
  EXPECT_NE(work.find("gemm type=fp32 m=48 n=32 k=8 > "), std::string::npos);
  EXPECT_NE(work.find("gemm type=fp32 m=8 n=48 k=16 > "), std::string::npos);
  EXPECT_EQ(work.find("gemm type=fp32 m=8 n=32 k=48"), std::string::npos);
  EXPECT_NE(work.find("all-to-all-pairwise"), std::string::npos);
}

TEST(MlpMeasure, RefusesToSliceCores) {
  const MlpPlan plan = mlp_plan({{8, 8, true, true}}, usable_cores() + 1, 8);
  EXPECT_THROW(measure_mlp_step(plan, 0.1), Error);
}

}  // namespace
}  // namespace windtunnel
