#include "validate/accuracy/runs/bridge_choices.hpp"

#include <gtest/gtest.h>

#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

Job chosen(const char* source, int pp, int experts) {
  TrainingRun run;
  run.source = source;
  run.model = "Qwen3";
  Job job = small_job(1, pp, 2);
  job.model.moe = {.experts = experts, .per_token = 1, .ffn_hidden = 128};
  choose_as_megatron_bridge(run, job);
  return job;
}

TEST(BridgeChoices, DenseModelsWithoutPipelineAreOneGraph) {
  EXPECT_TRUE(chosen("Megatron-Bridge 25.09 NeMo Container", 1, 0).software.cuda_graphs);
  EXPECT_FALSE(chosen("Megatron-Bridge 25.09 NeMo Container", 2, 0).software.cuda_graphs);
}

TEST(BridgeChoices, DispatchIsMergedFromTheContainerOnThatHasIt) {
  EXPECT_FALSE(chosen("Megatron-Bridge 26.02 NeMo Container", 1, 4).software.ep_merged);
  EXPECT_TRUE(chosen("Megatron-Bridge 26.04 NeMo Container", 1, 4).software.ep_merged);
}

}  // namespace
}  // namespace windtunnel
