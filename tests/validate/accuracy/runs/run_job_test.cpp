#include "validate/accuracy/runs/run_job.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/cost/memory/memory.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/workload/training.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/library/facts/training_software.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

TrainingRun run_of(const char* model, const char* note) {
  TrainingRun run;
  run.source = "HF nanotron sweep";
  run.gpu_type = "H100-80GB";
  run.model = model;
  run.note = note;
  return run;
}

TEST(RunJob, WhatRowsDoNotDescribeIsNotPredicted) {
  const auto reason = [](const char* model) {
    return error_of([&] { job_of(run_of(model, "")); });
  };
  EXPECT_EQ(reason("gpt_grpo_tp4_pp1_dp2_8b_throughput"),
            "a step of GRPO first generates samples, which the row does not describe");
  EXPECT_EQ(reason("multimodal_llava_mcore_te_tp1_pp1"),
            "the row states the language model, but not its image encoder");
  EXPECT_EQ(error_of([&] { job_of(run_of("Llama 3.2 3B", "baseline, unpacked samples")); }),
            "its samples are not packed, but the row does not state their lengths");
}

// "GPT 18B" of BLOOM's authors is not the model of this name in Megatron-LM's paper, which has 48
// heads.
TEST(RunJob, AModelOfAnotherWidthIsAnotherModel) {
  TrainingRun run = run_of("GPT 18B", "");
  run.layers = 6;
  run.hidden = 14336;
  run.heads = 64;
  run.ffn_hidden = 57344;
  run.vocabulary = 250000;
  run.sequence = 2048;
  run.global_batch = 512;
  run.micro_batch = 2;
  run.gpus = 8;
  run.tp = 8;
  run.pp = 1;
  run.dp = 1;
  EXPECT_EQ(job_of(run).job.model.kv_heads, 64);
  run.hidden = 6144;
  run.heads.reset();
  run.layers.reset();
  EXPECT_EQ(job_of(run).job.model.kv_heads, 48);
  EXPECT_EQ(job_of(run).job.model.layers, 40);
}

// Sources have their own names for models: model_names.yaml.
TEST(RunJob, AModelIsReadByTheNameOfItsSource) {
  TrainingRun run = run_of("Qwen3 MoE 30B", "");
  run.sequence = 4096;
  run.global_batch = 16;
  run.micro_batch = 1;
  run.gpus = 8;
  run.tp = run.pp = 1;
  run.dp = run.ep = 8;
  EXPECT_EQ(job_of(run).job.model.moe.experts, 128);
  run.hidden = 4096;  // a model of another width
  run.heads = run.layers = 32;
  run.parameters = "30B";
  EXPECT_EQ(job_of(run).job.model.moe.experts, 0);
}

// A batch of one sequence for each replica is not divided, whatever the row leaves out.
TEST(RunJob, OneSequenceForEachReplicaIsOneMicroBatch) {
  TrainingRun run = run_of("Llama 3.1 8B", "");
  run.sequence = 4096;
  run.global_batch = 8;
  run.gpus = 8;
  run.tp = run.pp = 1;
  run.dp = 8;
  EXPECT_EQ(job_of(run).job.batch.micro, 1);
  run.micro_batch = 2;  // contradicts the batch, and is kept to be refused
  EXPECT_EQ(job_of(run).job.batch.micro, 2);
  EXPECT_THROW(prepare_iteration(job_of(run).job), Error);
  run.micro_batch.reset();
  run.global_batch = 16;
  EXPECT_EQ(error_of([&] { job_of(run); }), "the row does not state micro_batch");
}

// A named module counts in addition to any named set.
TEST(RunJob, RecomputationIsReadByItsWords) {
  using enum RecomputeModule;
  TrainingRun run = run_of("Mixtral 8x7B", "");
  run.source = "Megatron-MoE-ModelZoo";
  run.sequence = 4096;
  run.global_batch = 64;
  run.micro_batch = 1;
  run.gpus = 64;
  run.tp = 1;
  run.pp = 4;
  run.dp = 16;
  run.ep = 8;
  run.precision = "bf16";
  const auto read = [&](const char* text) {
    run.recompute = text;
    return job_of(run).job.recompute;
  };
  EXPECT_EQ(read("selective (mlp)"), Recompute::of(mlp));
  EXPECT_EQ(read("norm, act"), Recompute::of(layernorm, moe_act));
  EXPECT_EQ(read("selective: moe_act, layernorm"), Recompute::of(layernorm, moe_act));
  EXPECT_EQ(read("selective"), Recompute::of(core_attn));
  EXPECT_EQ(read("full (uniform)"), Recompute::full);
  EXPECT_EQ(read("none"), Recompute::none);
  EXPECT_TRUE(job_of(run).job.software.ep_merged);  // DeepEP
}

// Before the fix each message between nodes takes half a second. Two micro-batches are under way
// during a round trip of two messages, so that each of 64 micro-batches takes half a second longer.
TEST(RunJob, NanotronBeforeItsFix) {
  TrainingRun run = run_of("Llama-like 1.34B", "zero_stage=0; after_pp_fix=True");
  run.layers = 16;
  run.hidden = 2048;
  run.heads = 32;
  run.kv_heads = 32;
  run.ffn_hidden = 8192;
  run.vocabulary = 131072;
  run.sequence = 4096;
  run.global_batch = 64;
  run.micro_batch = 1;
  run.gpus = 16;
  run.tp = 8;
  run.pp = 2;
  run.dp = 1;
  const double after_s = predict(job_of(run).job).step_s;
  run.note = "zero_stage=0; after_pp_fix=False";
  const double before_s = predict(job_of(run).job).step_s;
  EXPECT_NEAR(before_s - after_s, 64 * 0.5, 0.05 * 32);
  const Calibration before = job_of(run).job.calibration;
  EXPECT_EQ(before.name, "h100-sweep-before-fix");
  EXPECT_EQ(before.p2p_launch_s.origin, Origin::published);
  ASSERT_EQ(before.p2p_launch_s.fitted_on.size(), 1u);
  EXPECT_NE(before.p2p_launch_s.fitted_on[0].where.find("after_pp_fix=False"), std::string::npos);
  run.gpus = 8;  // inside a node
  run.tp = 4;
  const double inside_s = predict(job_of(run).job).step_s;
  run.note = "zero_stage=0; after_pp_fix=True";
  EXPECT_DOUBLE_EQ(predict(job_of(run).job).step_s, inside_s);
}

TrainingRun llama_8b(const char* source, int gpus) {
  TrainingRun run = run_of("Llama 3.1 8B", "");
  run.source = source;
  run.sequence = 8192;
  run.global_batch = 4 * gpus;
  run.micro_batch = 1;
  run.gpus = gpus;
  run.tp = 1;
  run.pp = 1;
  run.dp = gpus;
  run.precision = "bf16";
  return run;
}

// The sweep has three latencies of its own: of tensor-parallel groups that span nodes, of the
// network after the fix, and of the pipeline before it. One calibration contains the first and the
// last.
TEST(RunJob, NanotronsCalibrationFollowsItsLayout) {
  TrainingRun run = llama_8b("HF nanotron sweep", 32);
  const auto calibration = [&](int tp, int pp, const char* note) {
    run.tp = tp;
    run.pp = pp;
    run.dp = 32 / tp / pp;
    run.note = note;
    return job_of(run).job.calibration.name;
  };
  constexpr const char* kAfter = "zero_stage=0; after_pp_fix=True";
  constexpr const char* kBefore = "zero_stage=0; after_pp_fix=False";
  EXPECT_EQ(calibration(8, 1, kAfter), "h100-sweep-after-fix");
  EXPECT_EQ(calibration(8, 1, "zero_stage=0"), "h100-sweep");
  EXPECT_EQ(calibration(16, 1, kAfter), "h100-sweep-wide-tp");
  EXPECT_EQ(calibration(8, 2, kBefore), "h100-sweep-before-fix");
  EXPECT_EQ(calibration(16, 2, kBefore), "h100-sweep-before-fix-wide-tp");
}

// The policies are from configure.sh and paxml_mod_configs.py of NVIDIA/dgxc-benchmarking.
TEST(RunJob, MaxTextAndPaxMLRecomputeWhatTheirPoliciesSay) {
  using enum RecomputeModule;
  const auto recompute = [](const char* source, const char* params, const char* note) {
    TrainingRun run = llama_8b(source, 128);
    run.parameters = params;
    run.note = note;
    return job_of(run).job.recompute;
  };
  constexpr const char* kFirst = "NVIDIA dgxc-benchmarking v24.11.1";
  constexpr const char* kLater = "NVIDIA dgxc-benchmarking v25.02";
  EXPECT_EQ(recompute(kFirst, "5B", "PaxML"), Recompute::of(layernorm, core_attn, mlp_act));
  EXPECT_EQ(recompute(kFirst, "175B", "PaxML"), Recompute::of(layernorm, core_attn, mlp));
  EXPECT_EQ(recompute(kFirst, "70B", "MaxText"), Recompute::of(layernorm, core_attn, mlp));
  EXPECT_EQ(recompute(kLater, "70B", "MaxText"), Recompute::of(layernorm, attention, mlp));
}

TEST(RunJob, TorchtitansPowerLimitIsThatOfItsMachine) {
  TrainingRun run = llama_8b("torchtitan mxfp8 (2025-08)", 8);
  run.gpu_type = "B200";
  EXPECT_EQ(job_of(run).job.cluster.node.power_limit_W, 750);
  EXPECT_EQ(std::ranges::count(job_of(run).assumed, "power limited GPUs as limited to 750 W"), 1);
}

TEST(RunJob, AStageOfZeroUnderScheduleIsTheSharding) {
  TrainingRun run = llama_8b("a report", 16);
  const std::pair<const char*, Sharding> stages[] = {{"", Sharding::zero1},
                                                     {"ZeRO-1", Sharding::zero1},
                                                     {"ZeRO-2", Sharding::zero2},
                                                     {"ZeRO-3", Sharding::zero3}};
  for (const auto& [schedule, sharding] : stages) {
    run.schedule = schedule;
    EXPECT_EQ(job_of(run).job.layout.sharding, sharding) << schedule;
  }
}

// A choice whose number was fitted on rows of the same source states which rows.
TEST(RunJob, ChoicesHaveTheRowsThatTheirNumbersWereFittedOn) {
  TrainingRun run = llama_8b("Megatron-LM CI golden values", 8);
  const std::vector<const SoftwareChoice*> made = job_of(run).choices;
  const auto host_step = std::ranges::find_if(made, [](const SoftwareChoice* choice) {
    return choice->set[0].first == "software.host_step";
  });
  ASSERT_NE(host_step, made.end());
  ASSERT_EQ((*host_step)->fitted_on.size(), 1u);
  EXPECT_NE((*host_step)->fitted_on[0].where.find("H100"), std::string::npos);
  EXPECT_EQ(std::ranges::count(job_of(run).assumed, "container 25.09 of Megatron-Bridge"), 0);
  run.source = "NVIDIA Megatron-Bridge 27.02 NeMo Container";
  EXPECT_EQ(std::ranges::count(job_of(run).assumed, "container 25.09 of Megatron-Bridge"), 1);
}

TEST(RunJob, ChoicesHaveTheRowsOnWhoseMemoryTheyWereFitted) {
  TrainingRun run = llama_8b("LitGPT resource tables", 2);
  run.gpu_type = "A100-SXM4-40GB";
  run.schedule = "FSDP";
  const std::vector<const SoftwareChoice*> made = job_of(run).choices;
  const auto whole = std::ranges::find_if(made, [](const SoftwareChoice* choice) {
    return choice->set[0].first == "software.whole_start";
  });
  ASSERT_NE(whole, made.end());
  EXPECT_EQ((*whole)->memory_fitted_on.size(), 1u);
  EXPECT_TRUE((*whole)->fitted_on.empty());
}

TEST(RunJob, ANoteOfFullFineTuningMayNameAdapters) {
  TrainingRun run = llama_8b("MLPerf Training v5.0", 8);
  run.note = "LoRA rank 16";
  ASSERT_NE(job_of(run).job.training, nullptr);
  EXPECT_EQ(job_of(run).job.training->adapter.rank, 16);
  run.note = "full fine-tuning; the other row has LoRA rank 16";
  const RunJob full = job_of(run);
  EXPECT_TRUE(full.job.training == nullptr || full.job.training->adapter.rank == 0);
}

// Megatron-Core refuses experts with tensor parallelism and without sequence parallelism.
TEST(RunJob, ExpertsWithTensorParallelismHaveSequenceParallelism) {
  TrainingRun run = llama_8b("NVIDIA Megatron-Bridge 26.02 NeMo Container", 64);
  run.model = "Qwen3_235B_a22B";
  run.gpu_type = "GB200";
  run.tp = 2;
  run.ep = 32;
  run.dp = 32;
  EXPECT_TRUE(job_of(run).job.layout.sequence_parallel);
}

// Gradient buckets have the size in the software's own sources (scenarios/library/software.yaml).
TEST(RunJob, BucketsOfTheSoftware) {
  const auto elements = [](const char* source, const char* model, int dp) {
    TrainingRun run = llama_8b(source, dp);
    run.model = model;
    run.layers = 32;
    run.hidden = 4096;
    run.heads = 32;
    run.kv_heads = 8;
    run.ffn_hidden = 14336;
    run.vocabulary = 128256;
    return bucket_bytes(job_of(run).job) / 2;  // reduced in bf16
  };
  const char* const bridge = "NVIDIA Megatron-Bridge 26.02 NeMo Container";
  const char* const dgxc = "NVIDIA dgxc-benchmarking v25.02";
  EXPECT_EQ(elements("NVIDIA NeMo 24.07 perf summary", "LLAMA3-8B", 8), 40e6);
  EXPECT_EQ(elements("NVIDIA NeMo 24.07 perf summary", "LLAMA3-8B", 64), 64e6);
  EXPECT_EQ(elements(bridge, "LLAMA3_8B", 8), 134217728);
  EXPECT_EQ(elements(bridge, "LLAMA3_8B", 1024), 134217728);
  EXPECT_EQ(elements(dgxc, "Llama 3.1 8B", 64), 75 * 1048576 / 2);
}

// A column states the power limit of each GPU.
TEST(RunJob, ALimitOfPowerLowersClocks) {
  TrainingRun run = llama_8b("torchtitan 2024-12", 8);
  const double whole = job_of(run).job.calibration.kernel_sustained.value;
  run.power_limit_W = 400;
  const RunJob limited = job_of(run);
  EXPECT_EQ(limited.job.cluster.node.power_limit_W, 400);
  EXPECT_LT(limited.job.calibration.kernel_sustained.value, 0.9 * whole);
}

TEST(RunJob, AShareOfActivationsIsInTheHostsMemory) {
  TrainingRun run = llama_8b("Megatron-Kwai ATC24 memory", 8);
  EXPECT_EQ(job_of(run).job.offload, nullptr);
  run.note = "activation offload fraction alpha 0.5; offload_share=0.5";
  const RunJob offloading = job_of(run);
  ASSERT_NE(offloading.job.offload, nullptr);
  EXPECT_EQ(offloading.job.offload->activations, MemoryTier::host);
  EXPECT_EQ(offloading.job.offload->activation_share, 0.5);
  run.note = "offload_share=half";
  EXPECT_EQ(error_of([&] { job_of(run); }), "offload_share is 'half'; it must be from 0 to 1");
}

// If NeMo's tables state interleaving, virtual stages have one layer. Rows that do not state it are
// taken to have the same.
TEST(RunJob, APipelineOfWhichNothingIsPrintedInterleavesAsItsSourceDoes) {
  TrainingRun run = llama_8b("NVIDIA NeMo 24.07 fine-tuning", 2);
  run.gpus = 8;
  run.pp = 4;
  run.note = "packed SQuAD sequences of 4,096";
  run.sequence = 4096;
  run.global_batch = 32;
  run.micro_batch = 1;
  const Job job = job_of(run).job;
  EXPECT_EQ(job.layout.vpp, 8);
  EXPECT_EQ(job.schedule.name, "interleaved-1f1b");
  EXPECT_EQ(job.batch.sequence, 256);
  EXPECT_EQ(job.batch.micro, 16);
  run.source = "Megatron-LM examples/llama";
  EXPECT_EQ(job_of(run).job.layout.vpp, 1);
}

TEST(RunJob, UnfusedAttentionOfATest) {
  TrainingRun run = llama_8b("Megatron-LM CI golden values", 8);
  run.model = "gpt3_mcore_te_tp1_pp1_dist_optimizer";
  run.layers = 12;
  run.hidden = 512;
  run.heads = 8;
  run.note = "deterministic-mode";
  EXPECT_EQ(job_of(run).job.model.attention, AttentionKernel::flash);
  run.note = "deterministic-mode; unfused attention";
  EXPECT_EQ(job_of(run).job.model.attention, AttentionKernel::unfused);
}

// With weights on the host the GPU holds what a layer needs: full training of 70 B fits on eight
// A100 of 80 GB.
TEST(RunJob, OffloadOfAllStatesIsChosenByTheSource) {
  TrainingRun run = llama_8b("torchtune README memory and speed", 8);
  run.gpu_type = "A100-80GB";
  run.schedule = "FSDP2";
  run.note = "Full finetune, CPU offload + fused optimizer";
  const Job job = job_of(run).job;
  ASSERT_NE(job.offload, nullptr);
  EXPECT_EQ(job.offload->weights, MemoryTier::host);
  EXPECT_EQ(job.offload->optimizer, MemoryTier::host);
}

}  // namespace
}  // namespace windtunnel
