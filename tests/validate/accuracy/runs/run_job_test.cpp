#include "validate/accuracy/runs/run_job.hpp"

#include <gtest/gtest.h>

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
            "a step of GRPO writes samples first, of which the row says nothing");
  EXPECT_EQ(reason("multimodal_llava_mcore_te_tp1_pp1"),
            "the row states a language model and not the encoder of images beside it");
}

// "GPT 18B" of BLOOM's authors is none of Megatron-LM's paper, whose 48 heads it does not have.
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

// Half a second for each message between nodes before the fix: 64 micro-batches of two stages wait
// for one forward and one backward each.
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
  run.gpus = 8;  // inside a node
  run.tp = 4;
  const double inside_s = predict(job_of(run).job).step_s;
  run.note = "zero_stage=0; after_pp_fix=True";
  EXPECT_DOUBLE_EQ(predict(job_of(run).job).step_s, inside_s);
}

}  // namespace
}  // namespace windtunnel
