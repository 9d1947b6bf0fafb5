#include "validate/accuracy/runs/run_source.hpp"

#include <gtest/gtest.h>

#include <array>

#include "models/cost/chunk/step_work.hpp"
#include "scenarios/language/library/library.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

TrainingRun run_of(const char* source, const char* note = "") {
  TrainingRun run;
  run.source = source;
  run.model = "Qwen3";
  run.note = note;
  return run;
}

Job applied(const TrainingRun& run, Job job) {
  apply_source(source_of(run), run, job);
  return job;
}

Job chosen(const char* source, int pp, int experts, const char* note = "") {
  Job job = small_job(1, pp, 2);
  job.model.moe = {.experts = experts, .per_token = 1, .ffn_hidden = 128};
  return applied(run_of(source, note), job);
}

TEST(RunSource, EveryRowHasOne) {
  EXPECT_EQ(source_of(run_of("a paper")).name, "unknown");
  EXPECT_EQ(source_of(run_of("NVIDIA Megatron-Bridge 26.04 NeMo Container")).software->name,
            "megatron-bridge-26.04");
  EXPECT_EQ(source_of(run_of("NVIDIA Megatron-Bridge 26.04.01 NeMo Container")).software->name,
            "megatron-bridge-26.04.01");
  EXPECT_EQ(source_of(run_of("vTrain ground truth (single node)")).name, "vtrain-one-node");
  EXPECT_EQ(source_of(run_of("vTrain ground truth (multi-node)")).name, "vtrain");
}

// An unknown container is taken for another one, and the report says so.
TEST(RunSource, WhatARowIsTakenForIsSaid) {
  const RunSource& later = source_of(run_of("NVIDIA Megatron-Bridge 27.02 NeMo Container"));
  EXPECT_EQ(later.software->name, "megatron-bridge");
  EXPECT_EQ(later.assumed, "container 25.09 of Megatron-Bridge");
  EXPECT_EQ(source_of(run_of("NVIDIA Megatron-Bridge 25.09 NeMo Container")).assumed, "");
  EXPECT_NE(source_of(run_of("a paper")).assumed, "");
}

// Without a time, TFLOP/s tell it, provided that how the source counts them is known.
TEST(RunSource, ARateOfFlopsTellsTheStep) {
  TrainingRun run = run_of("Megatron-MoE-ModelZoo");
  EXPECT_FALSE(tells_step(run));
  run.tflops_per_gpu = 250;
  EXPECT_TRUE(tells_step(run));
  const Job job = small_job(1, 2, 2);
  EXPECT_DOUBLE_EQ(measured_step_s(run, job).value(),
                   flops_per_step(job, AttentionCount::causal) / (250e12 * job.layout.ranks()));
  run.step_s = 3;
  EXPECT_EQ(measured_step_s(run, job), 3);
  run = run_of("a paper");
  run.tflops_per_gpu = 250;
  EXPECT_FALSE(measured_step_s(run, job));
}

// Returns the refusal of a table that has all valid entries and one more.
std::string refused(const std::string& entry) {
  return error_of([&] {
    read_run_sources(
        parse_document("adapter: {rank: 16, on: [qkv]}\ncommon: {zero1: []}\nevery: []\n"
                       "sources:\n  s: {software: megatron, source: here, " +
                           entry + "}\n",
                       "t.yaml"));
  });
}

TEST(RunSource, WhatCannotBeKnownIsRefusedAtItsPlace) {
  EXPECT_EQ(refused("common: [zero1]"), "no error");
  EXPECT_EQ(refused("when: [[pp, above, 1]]").substr(0, 48),
            "t.yaml:5:49: 'pp' is a quantity of a job, but he");
  EXPECT_EQ(refused("when: [[row.sorce, contains, x]]"),
            "t.yaml:5:49: unknown quantity 'row.sorce'; did you mean 'row.source'?");
  EXPECT_EQ(refused("implies: [{when: [[ppp, above, 1]], set: {recompute: full}}]").substr(0, 37),
            "t.yaml:5:60: unknown quantity 'ppp'; ");
  EXPECT_EQ(refused("common: [zero2]"),
            "t.yaml:5:50: unknown list of choices 'zero2'; did you mean 'zero1'?");
  EXPECT_EQ(refused("node: dgx-h1000"),
            "t.yaml:5:47: unknown node 'dgx-h1000'; did you mean 'dgx-h100'?");
}

TEST(RunSource, DenseModelsWithoutPipelineAreOneGraph) {
  EXPECT_TRUE(chosen("Megatron-Bridge 25.09 NeMo Container", 1, 0).software.cuda_graphs);
  EXPECT_FALSE(chosen("Megatron-Bridge 25.09 NeMo Container", 2, 0).software.cuda_graphs);
  // No graphs are used if the note says FSDP, which is read before the software's choices.
  EXPECT_FALSE(chosen("Megatron-Bridge 25.09 NeMo Container", 1, 0, "FSDP=8").software.cuda_graphs);
}

// Megatron-Core keeps and reduces gradients in one buffer, so they have one type:
// grad_reduce_in_fp32.
TEST(RunSource, GradientsOfABufferHaveOneType) {
  const Software bridge = chosen("Megatron-Bridge 26.04 NeMo Container", 1, 0).software;
  EXPECT_EQ(bridge.gradient_bytes, 2);
  EXPECT_EQ(bridge.reduce_bytes, 2);
}

TEST(RunSource, DispatchIsMergedFromTheReleaseOnThatHasIt) {
  EXPECT_FALSE(chosen("Megatron-Bridge 26.02 NeMo Container", 1, 4).software.ep_merged);
  EXPECT_TRUE(chosen("Megatron-Bridge 26.04 NeMo Container", 1, 4).software.ep_merged);
}

// Megatron-Bridge's recipes for GPT-OSS, recognised by the attention window, use a graph of the
// whole iteration on racks only.
TEST(RunSource, RecipesDifferByGpu) {
  const auto gpt_oss_on = [](const char* node) {
    Job job = small_job(1, 1, 2);
    job.cluster.node = find_node(node);
    job.model.moe = {.experts = 4, .per_token = 1, .ffn_hidden = 128};
    job.model.window = 128;
    job.precision = Precision::mxfp8;
    return applied(run_of("Megatron-Bridge 26.06 NeMo Container"), job).software;
  };
  EXPECT_TRUE(gpt_oss_on("gb300-nvl72").cuda_graphs);
  EXPECT_TRUE(gpt_oss_on("gb300-nvl72").fused_experts);
  EXPECT_FALSE(gpt_oss_on("hgx-b300").cuda_graphs);
  EXPECT_FALSE(gpt_oss_on("hgx-b300").fused_experts);
  EXPECT_TRUE(gpt_oss_on("hgx-b300").ep_merged);
  EXPECT_TRUE(gpt_oss_on("hgx-b300").dense_graphs);
}

// Megatron-Bridge puts the module for multi-token prediction and the loss in place of three layers,
// or of two if the first stage has one layer less.
TEST(RunSource, DeepSeekOfBridgePredictsFurtherTokens) {
  const auto of = [](int pp, int vpp, const char* name) {
    Job job = small_job(1, pp, 1);
    job.layout.vpp = vpp;
    job.model.layers = 61;
    job.model.moe = {.experts = 4, .per_token = 1, .ffn_hidden = 128};
    job.layout.stage_layers.assign(static_cast<std::size_t>(pp) * vpp, 2);
    TrainingRun run = run_of("Megatron-Bridge 26.04 NeMo Container");
    run.model = name;
    return applied(run, job);
  };
  const auto ends = [](const Job& job) {
    const std::vector<int>& layers = job.layout.stage_layers;
    return std::array{layers.front(), layers[1], layers.back()};
  };
  const Job four = of(4, 4, "DeepSeekV3");
  EXPECT_EQ(four.model.mtp_layers, 1);
  EXPECT_EQ(ends(four), (std::array{4, 4, 1}));
  EXPECT_EQ(ends(of(8, 1, "DeepSeekV3")), (std::array{8, 8, 5}));
  EXPECT_EQ(ends(of(8, 4, "DeepSeekV3")), (std::array{1, 2, 0}));
  EXPECT_EQ(of(4, 4, "Kimi_K2").model.mtp_layers, 0);
  EXPECT_EQ(ends(of(4, 4, "Kimi_K2")), (std::array{2, 2, 2}));
}

// Container 25.11 used partial graphs and HybridEP on racks; on B200 it used graphs only without a
// pipeline.
TEST(RunSource, GraphsOfPartsCameToRacksFirst) {
  const auto on = [](const char* node, int pp, const char* container) {
    Job job = small_job(1, pp, 2);
    job.cluster.node = find_node(node);
    job.model.moe = {.experts = 4, .per_token = 1, .ffn_hidden = 128};
    job.model.latent.kv_rank = 512;
    return applied(run_of(container), job).software;
  };
  constexpr const char* kFirst = "Megatron-Bridge 25.11 NeMo Container";
  EXPECT_TRUE(on("gb200-nvl72", 2, kFirst).dense_graphs);
  EXPECT_TRUE(on("gb200-nvl72", 2, kFirst).ep_merged);
  EXPECT_FALSE(on("dgx-b200", 2, kFirst).dense_graphs);
  EXPECT_FALSE(on("dgx-b200", 2, kFirst).ep_merged);
  EXPECT_TRUE(on("dgx-b200", 1, kFirst).dense_graphs);
  EXPECT_TRUE(on("dgx-h100", 2, kFirst).ep_merged);
  EXPECT_TRUE(on("dgx-b200", 2, "Megatron-Bridge 26.02 NeMo Container").ep_merged);
}

// AutoModel's table states neither ep nor recomputation for GPT-OSS.
TEST(RunSource, WhatTheTableOfAutoModelLeavesOut) {
  TrainingRun run = run_of("NVIDIA NeMo AutoModel performance summary", "kernels TE + DeepEP");
  Job job = small_job(1, 1, 8);
  job.model.moe = {.experts = 8, .per_token = 1, .ffn_hidden = 128};
  EXPECT_EQ(applied(run, job).layout.ep, 8);
  EXPECT_EQ(applied(run, job).recompute, Recompute::full);
  job.model.window = 128;  // GPT-OSS
  EXPECT_NE(applied(run, job).recompute, Recompute::full);
  job.layout.ep = 4;
  EXPECT_EQ(applied(run, job).layout.ep, 4);
  job.model.window = 0;
  run.recompute = "none";
  EXPECT_NE(applied(run, job).recompute, Recompute::full);
}

TEST(RunSource, ExpertsOfMlperfOverlapTheirExchanges) {
  Job job = small_job(1, 2, 2);
  job.cluster.node = find_node("gb200-nvl72");
  const TrainingRun run = run_of("MLPerf Training v6.0");
  EXPECT_FALSE(applied(run, job).software.ep_overlap);
  job.model.moe = {.experts = 4, .per_token = 1, .ffn_hidden = 128};
  const Software experts = applied(run, job).software;
  EXPECT_TRUE(experts.ep_overlap && experts.ep_merged && experts.fused_experts);
  EXPECT_EQ(experts.gradient_bytes, 2);
  job.cluster.node = find_node("dgx-h100");
  EXPECT_FALSE(applied(run, job).software.ep_overlap);
}

TEST(RunSource, WhatTheRowSaysStays) {
  Job job = small_job(2, 1, 2);
  job.layout.sequence_parallel = false;  // as if the row stated nothing
  TrainingRun run = run_of("NVIDIA NeMo 24.07 perf summary");
  EXPECT_TRUE(applied(run, job).layout.sequence_parallel);
  EXPECT_EQ(applied(run, job).software.tp_overlap, TensorOverlap::pipelined);
  run.sequence_parallel = false;
  EXPECT_FALSE(applied(run, job).layout.sequence_parallel);
  EXPECT_EQ(applied(run, job).software.tp_overlap, TensorOverlap::none);
  TrainingRun tuned = run_of("torchtune README");
  EXPECT_EQ(applied(tuned, job).recompute, Recompute::full);
  tuned.recompute = "none";
  EXPECT_EQ(applied(tuned, job).recompute, Recompute::none);
}

}  // namespace
}  // namespace windtunnel
