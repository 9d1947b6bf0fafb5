// Compares published fine-tuning with predictions: memory and steps of adapters, and memory of
// losses. The table of docs/physics/what-is-trained.md lists these figures.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "models/cost/chunk/activations.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/workload/training.hpp"
#include "policies/iteration.hpp"
#include "policies/lowering/iteration_estimate.hpp"
#include "scenarios/language/case.hpp"
#include "traces/rows/training_runs.hpp"
#include "traces/text/text.hpp"
#include "validate/accuracy/runs/run_job.hpp"

namespace windtunnel {
namespace {

Job job_of(const std::string& text) {
  return parse_case(text, "published.yaml").job;
}

double memory_GiB(const Job& job) {
  return fullest_bytes(prepare_iteration(job).memory) / 1073741824.0;
}

double step_s(const Job& job) {
  return microbatches_step_s(job, prepare_iteration(job));
}

// Hugging Face's LLaMA has 32,000 words and no biases.
std::string llama(int layers, int hidden, int heads, int ffn) {
  return fmt::format(
      "model: {{layers: {}, hidden: {}, heads: {}, ffn: {}, vocabulary: 32000, sequence: 2048, "
      "activation: swiglu, normalisation: rms-norm, position: rotary, biases: false, "
      "tied_embeddings: false}}\n",
      layers, hidden, heads, ffn);
}
std::string llama_7b() {
  return llama(32, 4096, 32, 11008);
}
std::string llama_33b() {
  return llama(60, 6656, 52, 17920);
}
std::string llama_65b() {
  return llama(80, 8192, 64, 22016);
}

// In PEFT each matrix has its own pair of factors.
constexpr const char* kAsPeft = "software: {adapter_per_product: false}";

std::string one_a100(const std::string& model, int sequence, int global, int micro,
                     const std::string& rest) {
  return fmt::format(
      "name: a\n{}cluster: {{nodes: 1, node: {{base: dgx-a100, gpus: 1}}}}\n"
      "batch: {{global: {}, micro: {}, sequence: {}}}\n{}\n",
      model, global, micro, sequence, rest);
}

// ---- rows of the table of Qwen's fine-tuning ----

struct FineTuning {
  std::string model;
  int sequence;
  double memory, step;  // predicted over published
};

std::vector<FineTuning> fine_tuning() {
  const TrainingRuns table =
      read_training_runs(WINDTUNNEL_SOURCE_DIR "/tests/data/fine_tuning_runs.csv");
  EXPECT_TRUE(table.unusable.empty());
  std::vector<FineTuning> runs;
  for (const TrainingRun& row : table.runs) {
    const RunPrediction predicted = predict(job_of(row).job);
    const double bytes = bytes_of(memory_figure_of(row), predicted.memory);
    runs.push_back({row.model, *row.sequence, bytes / kGibibyte / *row.memory_gib,
                    predicted.step_s / *row.step_s});
  }
  return runs;
}

bool is_quantised(const FineTuning& run) {
  return contains_text(run.model, "QLoRA");
}

double median_error(const std::vector<FineTuning>& runs, double FineTuning::*ratio,
                    const std::function<bool(const FineTuning&)>& of) {
  std::vector<double> errors;
  for (const FineTuning& run : runs) {
    if (of(run)) errors.push_back(std::abs(run.*ratio - 1));
  }
  std::ranges::sort(errors);
  return errors.at(errors.size() / 2);
}

TEST(WhatIsTrained, QwenFineTuning) {
  const std::vector<FineTuning> runs = fine_tuning();
  ASSERT_EQ(runs.size(), 42U);
  const auto lora = [](const FineTuning& run) { return !is_quantised(run); };
  // GPTQ dequantises with other kernels, which take most of the time for short sequences.
  const auto long_ones = [](const FineTuning& run) {
    return is_quantised(run) && run.sequence >= 4096;
  };
  EXPECT_LE(median_error(runs, &FineTuning::memory, lora), 0.05);
  EXPECT_LE(median_error(runs, &FineTuning::memory, is_quantised), 0.05);
  EXPECT_LE(
      median_error(runs, &FineTuning::step,
                   [](const FineTuning& run) { return !is_quantised(run) && run.sequence > 256; }),
      0.05);
  EXPECT_LE(median_error(runs, &FineTuning::step, long_ones), 0.1);
  for (const FineTuning& run : runs) {
    SCOPED_TRACE(run.model);
    EXPECT_NEAR(run.memory, 1, is_quantised(run) ? 0.16 : 0.14) << run.sequence;
    if (is_quantised(run)) continue;
    EXPECT_NEAR(run.step, 1, 0.12) << run.sequence;
  }
}

// ---- QLoRA (arXiv 2305.14314) ----

// Abstract: 65B take less than 48 GB, where full fine-tuning in 16 bits takes more than 780 GB; 33B
// fit on a GPU of 24 GB. Adapters of rank 64 are on all matrices (appendix B.2), with 16-bit
// weights and gradients, one sequence of 512 and gradient checkpointing. Adam's states are paged,
// so that the states on the host account for the difference.
TEST(WhatIsTrained, QloraFits) {
  const auto allocated_GB = [](const std::string& model, const char* train) {
    const Job job = job_of(one_a100(model, 512, 16, 1,
                                    fmt::format("recompute: full\nsoftware: {{gradients: bf16, "
                                                "adapter_per_product: false}}\n{}",
                                                train)));
    const GpuMemory memory = prepare_iteration(job).memory.front();
    return std::pair((memory.allocated() - memory.optimizer) / 1e9, memory.allocated() / 1e9);
  };
  const char* qlora = "train: {adapter: {kind: qlora, rank: 64}}";
  EXPECT_LT(allocated_GB(llama_65b(), qlora).first, 48);
  EXPECT_GT(allocated_GB(llama_65b(), "").second, 780);
  EXPECT_LT(allocated_GB(llama_33b(), qlora).first, 24);
}

// Section 2: the base of 7B takes 5,048 MB with adapters of 0.2 % of its weights (26 MB). That base
// has embeddings and head in fp32 and keeps 16-bit copies; matrices in 4 bits are two thirds of it.
TEST(WhatIsTrained, AQuantisedBase) {
  const Job job =
      job_of(one_a100(llama_7b(), 512, 16, 1, "train: {adapter: {kind: qlora, rank: 2}}"));
  const ChunkCost chunk = chunk_costs(job).front();
  const double base_MB = 2 * chunk.frozen_parameters / 1e6;
  const double embeddings_MB = 2 * 32000 * 4096 * 2 / 1e6;  // both matrices in 16 bits
  EXPECT_NEAR(base_MB, 6.476e3 * kNf4Bytes + embeddings_MB, 0.01 * base_MB);
}

// ---- LoRA (arXiv 2106.09685), section 4.2 ----

std::string gpt3(const std::string& rest) {
  return "name: a\nmodel: gpt3-175b\ncluster: {nodes: 12, node: dgx-v100, fabric: {topology: "
         "fat-tree}}\n"
         "layout: {tp: 8, pp: 12}\nbatch: {global: 96, micro: 1, sequence: 2048}\n"
         "precision: fp16\nrecompute: full\n" +
         rest;
}

// LoRA trains 43.1 tokens/s per V100 instead of 32.5, which is 1.33 times as many: it needs three
// passes instead of four, without weight gradients. The number of GPUs is not stated; in the layout
// assumed here both trainings need tp's collectives, so that the gain is only 1.19.
TEST(WhatIsTrained, LoraIsFaster) {
  const double full_s = step_s(job_of(gpt3("")));
  const double lora_s =
      step_s(job_of(gpt3("train: {adapter: {kind: lora, rank: 4, on: [q, v]}}\n")));
  EXPECT_GT(full_s / lora_s, 1.15);
  EXPECT_LT(full_s / lora_s, 4.0 / 3);
}

// LoRA takes 350 GB instead of 1.2 TB (7 B per parameter): only the 16-bit weights are left of the
// state, without gradients and Adam's moments.
TEST(WhatIsTrained, LoraHoldsTheWeights) {
  double lora_GB = 0;
  const Job job = job_of(gpt3("train: {adapter: {kind: lora, rank: 4, on: [q, v]}}\n"));
  for (const GpuMemory& rank : prepare_iteration(job).memory) {
    lora_GB += 8 * (rank.weights + rank.gradients + rank.optimizer) / 1e9;
  }
  EXPECT_NEAR(lora_GB, 350, 35);
}

// ---- MeZO (arXiv 2305.17333), abstract ----

// On one GPU of 80 GB two forward passes train 30B, and a backward pass with Adam 2.7B. The models
// are OPT's, and tasks have some 400 tokens.
TEST(WhatIsTrained, ForwardPassesFitMore) {
  const auto fits = [](int layers, int hidden, int heads, const char* train) {
    const std::string model = fmt::format(
        "model: {{layers: {}, hidden: {}, heads: {}, vocabulary: 50272, sequence: 2048}}\n", layers,
        hidden, heads);
    const Job job = job_of(one_a100(model, 400, 16, 1, train));
    return gpu_memory_excess(prepare_iteration(job).memory, job).empty();
  };
  const char* forward = "train: {method: zeroth-order}";
  EXPECT_TRUE(fits(48, 7168, 56, forward));   // 30B
  EXPECT_FALSE(fits(64, 9216, 72, forward));  // 66B
  EXPECT_TRUE(fits(32, 2560, 32, ""));        // 2.7B
  EXPECT_FALSE(fits(32, 4096, 32, ""));       // 6.7B
}

// ---- LoRA-FA (arXiv 2308.03303) ----

// LoRA-FA takes up to 1.4 times less memory than LoRA. LoRA is run as in PEFT: dropout, all
// matrices, no recomputation. The model is 7B on one GPU of 80 GB, with the most sequences of 1,024
// that fit.
TEST(WhatIsTrained, LoraFaTakesLess) {
  double most = 0;
  for (int micro = 1; micro <= 8; ++micro) {
    const auto with = [&](const char* kind) {
      return job_of(
          one_a100(llama_7b(), 1024, 8 * micro, micro,
                   fmt::format("train: {{adapter: {{kind: {}, rank: 8, dropout: true}}}}\n{}", kind,
                               kAsPeft)));
    };
    const double lora = memory_GiB(with("lora"));
    if (lora > 79) break;
    most = std::max(most, lora / memory_GiB(with("lora-fa")));
  }
  EXPECT_NEAR(most, 1.4, 0.14);
}

// Section 1: the inputs of all LoRA layers of 65B take more than 50 GB for 4 sequences of 2,048.
TEST(WhatIsTrained, InputsOfLoraLayers) {
  const auto activations = [](const char* kind) {
    return chunk_costs(job_of(one_a100(llama_65b(), 2048, 4, 4,
                                       fmt::format("train: {{adapter: {{kind: {}, rank: 8}}}}\n{}",
                                                   kind, kAsPeft))))
        .front()
        .activation_bytes;
  };
  const double spared_GB = (activations("lora") - activations("lora-fa")) / 1e9;
  // The projection's inputs are not saved, because fused attention reads them.
  const double projection_GB = 80.0 * 4 * 2048 * 8192 * 2 / 1e9;
  EXPECT_GT(spared_GB + projection_GB, 50);
}

// ---- contrastive losses: Inf-CL (arXiv 2410.17243), tables 1, 2 and 4 ----

// CLIP's ViT-L/14 is represented by its vision tower, with embeddings of 768.
Job clip(int gpus, double batch, const char* form, int width = 768) {
  return job_of(fmt::format(
      "name: a\nmodel: {{layers: 24, hidden: 1024, heads: 16, ffn: 4096, vocabulary: 1000, "
      "sequence: 257, tied_embeddings: true}}\n"
      "cluster: {{nodes: {}, node: {{base: dgx-a100, gpus: {}}}}}\n"
      "batch: {{global: {:.0f}, micro: 128}}\ntrain: {{loss: {{kind: contrastive, form: {}, width: "
      "{}}}}}\n",
      gpus > 8 ? gpus / 8 : 1, gpus > 8 ? 8 : gpus, batch, form, width));
}

double loss_GiB(const Job& job) {
  return head_activations(job).transient / 1073741824.0;
}

// The loss is OpenCLIP's local loss.
TEST(WhatIsTrained, WholeSimilarities) {
  struct Row {
    int gpus;
    double batch, published_GiB;
    int width = 768;
  };
  constexpr double kKilo = 1024;
  for (const Row& row :
       {Row{8, 32 * kKilo, 2.27}, Row{8, 64 * kKilo, 8.63}, Row{8, 128 * kKilo, 33.64},
        Row{32, 32 * kKilo, 0.71}, Row{32, 64 * kKilo, 2.45}, Row{32, 128 * kKilo, 8.98},
        Row{32, 256 * kKilo, 34.35}, Row{4, 64 * kKilo, 16.96, 512}}) {
    EXPECT_NEAR(loss_GiB(clip(row.gpus, row.batch, "whole", row.width)), row.published_GiB,
                0.1 * row.published_GiB)
        << row.gpus << " " << row.batch;
  }
}

// In tiles on a ring, 4 M sequences fit in 80 GB on 8 A800, and 12 M on 32. With whole similarities
// at most 184k and 368k fit.
TEST(WhatIsTrained, TilesOnARingFit) {
  constexpr double kKilo = 1024;
  const auto fits = [](const Job& job) {
    return gpu_memory_excess(prepare_iteration(job).memory, job).empty();
  };
  EXPECT_TRUE(fits(clip(8, 4096 * kKilo, "ring")));
  EXPECT_TRUE(fits(clip(32, 12288 * kKilo, "ring")));
  EXPECT_FALSE(fits(clip(8, 4096 * kKilo, "whole")));
  EXPECT_FALSE(fits(clip(32, 12288 * kKilo, "whole")));
  EXPECT_TRUE(fits(clip(8, 184 * kKilo, "whole")));
  EXPECT_TRUE(fits(clip(32, 352 * kKilo, "whole")));
  EXPECT_FALSE(fits(clip(8, 256 * kKilo, "whole")));
}

}  // namespace
}  // namespace windtunnel
