// Compares figures that papers and projects report for offloading with ours;
// docs/physics/offload.md lists both. Nothing is fitted to them. If we miss a published figure, the
// test expects our prediction, and a comment says so.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "models/cost/memory/tiers.hpp"
#include "models/cost/offload/offload.hpp"
#include "policies/iteration.hpp"
#include "policies/search/memory_search.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

// A DGX-2 has 1.5 TB of host memory for its GPUs, of which this job uses one.
constexpr const char* kV100 = "{base: dgx-v100, gpus: 1, nics: 1, host_memory: 1.5 TB}";

struct Gpt {
  int layers = 1;
  int hidden = 4096;
  std::string node = kV100;
  int nodes = 1;
  int gpus = 1;  // used by the job
  int micro = 1;
  std::string offload = "gpu";
};

Case gpt_case(const Gpt& of) {
  return parse_case(
      fmt::format("name: gpt\nmodel: {{layers: {}, hidden: {}, heads: {}, vocabulary: 50257, "
                  "sequence: 1024, tied_embeddings: true}}\n"
                  "cluster: {{nodes: {}, node: {}}}\nlayout: {{tp: 1, dp: {}, sharding: {}}}\n"
                  "batch: {{global: {}, micro: {}}}\nprecision: fp16\nrecompute: full\n"
                  "software: {{gradients: bf16, reductions: bf16}}\n"
                  "communication: {{overlap: bucketed}}\noffload: {}\n",
                  of.layers, of.hidden, of.hidden / 128, of.nodes, of.node, of.gpus,
                  of.gpus > 1 ? "zero3" : "none", of.gpus * of.micro, of.micro, of.offload),
      "gpt.yaml");
}

// Returns whether GPU, host and drives have room for the job.
bool fits(const Job& job, const PreparedIteration& prepared) {
  return gpu_memory_excess(prepared.memory, job).empty() &&
         std::ranges::all_of(kTiersBesideGpu, [&](MemoryTier tier) {
           return tier_of_node(job, prepared.memory, tier).total() <=
                  tier_capacity(job.cluster.node, tier);
         });
}

bool fits(const Case& of) {
  return fits(of.job, *of.prepared);
}

bool fits(const Gpt& of) {
  return fits(gpt_case(of));
}

// Returns the size in billions of parameters.
double largest_model(Gpt of) {
  int low = 0;
  int high = 256;
  while (high - low > 1) {
    of.layers = (low + high) / 2;
    (fits(of) ? low : high) = of.layers;
  }
  of.layers = low;
  return gpt_case(of).job.model.parameters() / 1e9;
}

// Ren et al. 2021 (arXiv 2101.06840) report 13 billion parameters on one V100 of 32 GB.
TEST(OffloadHeadlines, ZeroOffloadsLargestModel) {
  const double largest = largest_model({.offload = "{optimizer: host, gradients: host}"});
  EXPECT_NEAR(largest, 13, 0.10 * 13);
}

// Ren et al. report 1.4 billion without offload. Here it is 1.8, because not everything that the
// program keeps is known.
TEST(OffloadHeadlines, WithoutItTheLargestModelIsAnOrderSmaller) {
  const double largest = largest_model({});
  EXPECT_NEAR(largest, 1.8, 0.1);
}

// Ren et al. report 40 TFLOP/s with 10 billion parameters, 50 layers of 4,096 (DeepSpeed's
// tutorial).
TEST(OffloadHeadlines, ZeroOffloadsSpeed) {
  const Record record = simulate(
      gpt_case({.layers = 50, .micro = 8, .offload = "{optimizer: host, gradients: host}"}));
  EXPECT_NEAR(record.iteration.tflops_per_gpu, 40, 4);
}

// Fang et al. 2021 (arXiv 2108.05818) report 68 billion parameters on eight A100 of 40 GB with 1
// TB, and 175 billion on 32 A100. At 68 billion GPUs and host are both full if four fifths of the
// optimizer state are on the host.
TEST(OffloadHeadlines, PatrickStarsLargestModels) {
  const Gpt one_node{.hidden = 8192, .node = "dgx-a100-40", .gpus = 8};
  double largest = 0;
  for (const double share : {1.0, 0.9, 0.8, 0.7}) {
    Gpt of = one_node;
    of.offload = fmt::format(
        "{{optimizer: host, gradients: host, weights: host, optimizer_share: {}}}", share);
    largest = std::max(largest, largest_model(of));
  }
  EXPECT_NEAR(largest, 68, 0.10 * 68);
  EXPECT_TRUE(fits({.layers = 96,
                    .hidden = 12288,
                    .node = "dgx-a100-40",
                    .nodes = 4,
                    .gpus = 32,
                    .offload = "{optimizer: host, gradients: host, weights: host}"}));
}

// States a model of PatrickStar (Tencent/PatrickStar, examples/model_builder.py): layers, width,
// billions of parameters. With its chunks 18 billion were the largest on eight V100 of 32 GB with
// 240 GB of host memory, with sequences of 1,024, four per GPU.
struct StarModel {
  int layers;
  int hidden;
  double billions;
};
constexpr StarModel kStarModels[] = {{65, 4096, 13}, {78, 4096, 15}, {90, 4096, 18}, {25, 8192, 20},
                                     {50, 8192, 40}, {75, 8192, 60}, {69, 9216, 70}};

Case star_case(const StarModel& model, const std::string& node) {
  return parse_case(
      fmt::format("name: star\nmodel: {{layers: {}, hidden: {}, heads: 16, vocabulary: 30522, "
                  "sequence: 1024, tied_embeddings: true, separate_projections: true, attention: "
                  "unfused}}\ncluster: {{nodes: 1, node: {}}}\n"
                  "layout: {{tp: 1, dp: 8, sharding: zero3}}\nbatch: {{global: 32, micro: 4}}\n"
                  "precision: fp16\nrecompute: full\nsoftware: {{gradients: bf16, reductions: "
                  "bf16}}\ncommunication: {{overlap: bucketed}}\noffload: {{placement: chunks}}\n",
                  model.layers, model.hidden, node),
      "star.yaml");
}

// By default PatrickStar's chunks may take 0.8 of the memory of GPUs and host
// (doc/optimization_options.md, overall_gpu_mem_ratio, overall_cpu_mem_ratio).
double largest_star(const std::string& node, double quota) {
  double largest = 0;
  for (const StarModel& model : kStarModels) {
    Job job = with_memory_open(star_case(model, node).job);
    job.cluster.node.gpu.memory_bytes.value *= quota;
    job.cluster.node.host_memory_bytes.value *= quota;
    job = with_memory_found(job);
    if (fits(job, prepare_iteration(job))) largest = std::max(largest, model.billions);
  }
  return largest;
}

// With these quotas PatrickStar reaches 18 billion here, as published, and on A100 60 instead of
// 68; without quotas it reaches 20 and 70.
TEST(OffloadHeadlines, PatrickStarsChunks) {
  constexpr const char* kYard = "{base: dgx-v100, host_memory: 240 GB}";
  EXPECT_EQ(largest_star(kYard, 0.8), 18);
  EXPECT_EQ(largest_star("dgx-a100-40", 0.8), 60);
  EXPECT_EQ(largest_star(kYard, 1), 20);
  EXPECT_EQ(largest_star("dgx-a100-40", 1), 70);
}

// DeepSpeed, blogs/zenflow-corebinding (2025), trains Qwen2.5 on two A100 of 40 GB with an unknown
// batch. With 2,560 tokens per rank ZeRO-2 takes the published 240 ms for the 1.5B model, so that
// this batch is used. There offloading adds as much time as an optimizer step on one core per rank
// takes.
double qwen_s(bool small, const std::string& sharded_offload) {
  const auto [layers, hidden, heads, ffn] =
      small ? std::array{28, 1536, 12, 8960} : std::array{36, 2048, 16, 11008};
  const Case qwen = parse_case(
      fmt::format("name: qwen\nmodel: {{layers: {}, hidden: {}, heads: {}, kv_heads: 2, ffn: {}, "
                  "vocabulary: 151936, sequence: 2560, activation: swiglu, normalisation: "
                  "rms-norm, tied_embeddings: true}}\n"
                  "cluster: {{nodes: 1, node: {{base: dgx-a100-40, gpus: 2, nics: 2}}}}\n"
                  "layout: {{tp: 1, dp: 2, sharding: zero2}}\nbatch: {{global: 2, micro: 1}}\n"
                  "recompute: none\nsoftware: {{gradients: bf16, reductions: bf16}}\n"
                  "communication: {{overlap: bucketed}}\noffload: {}\n",
                  layers, hidden, heads, ffn, sharded_offload),
      "qwen.yaml");
  return simulate(qwen).iteration.time_s;
}

TEST(OffloadHeadlines, DeepSpeedsStepOnTheHostIsThatOfOneCore) {
  constexpr const char* kOneCore = "{optimizer: host, gradients: host, cores: 1}";
  EXPECT_NEAR(qwen_s(true, "gpu"), 0.240, 0.05 * 0.240);  // the batch was chosen by this
  EXPECT_NEAR(qwen_s(true, kOneCore), 1.365, 0.10 * 1.365);
  const double bound_s = (2.64906 + 2.64182 + 2.20076) / 3;  // cores bound to ranks
  EXPECT_NEAR(qwen_s(false, kOneCore), bound_s, 0.10 * bound_s);
  // All cores together and the host's memory would be faster, but DeepSpeed did not use them.
  EXPECT_LT(qwen_s(true, "{optimizer: host, gradients: host}"), 0.30 * 1.365);
}

// Rajbhandari et al. 2021 (ZeRO-Infinity, arXiv 2104.07857) used nodes of 16 V100 of 32 GB, with
// 1.5 TB of memory and 30 TB of drives, and sequences of 1,024, `micro` of them on `tp` GPUs. They
// divide activations over tp by partitioned checkpoints, and we by sequence parallelism.
struct InfinityRow {
  int nodes;
  int layers;
  int hidden;
  int tp;
  int micro;
};

Case infinity_case(const InfinityRow& row) {
  return parse_case(
      fmt::format("name: infinity\nmodel: {{layers: {}, hidden: {}, heads: {}, vocabulary: 50257, "
                  "sequence: 1024, tied_embeddings: true, attention: unfused}}\n"
                  "cluster: {{nodes: {}, node: dgx-2}}\n"
                  "layout: {{tp: {}, sharding: zero3, sequence_parallel: {}}}\n"
                  "batch: {{global: {}, micro: {}}}\nprecision: fp16\nrecompute: full\n"
                  "software: {{gradients: bf16, reductions: bf16}}\n"
                  "communication: {{overlap: bucketed}}\n"
                  "offload: {{optimizer: disk, gradients: disk, weights: disk, activations: host, "
                  "tiles: 16}}\n",
                  row.layers, row.hidden, row.hidden / 128, row.nodes, row.tp,
                  row.tp > 1 ? "true" : "false", row.nodes * 16 / row.tp * row.micro, row.micro),
      "infinity.yaml");
}

// The paper reports 1 trillion parameters on one node and 32 trillion on 32.
TEST(OffloadHeadlines, ZeroInfinitysLargestModels) {
  const Case one = infinity_case({1, 128, 25600, 1, 7});
  EXPECT_NEAR(one.job.model.parameters(), 1e12, 0.02e12);
  EXPECT_TRUE(fits(one));
  const Case many = infinity_case({32, 212, 112 * 1024, 8, 8});
  EXPECT_NEAR(many.job.model.parameters(), 32e12, 2e12);
  EXPECT_TRUE(fits(many));
  // Drives of 30.72 TB limit the size here: a parameter takes 16 bytes if gradients take 2.
  EXPECT_TRUE(fits(infinity_case({1, 240, 25600, 1, 4})));
  EXPECT_FALSE(fits(infinity_case({1, 256, 25600, 1, 4})));
}

// The paper reports 49 TFLOP/s per GPU (40 % of the peak) with 500 billion parameters on 512 GPUs;
// its formulas count recomputation. Missed: we have 68, because no rows of fp16 on V100 are fitted
// and kernels run at the generic calibration's rates. Drives add little at 0.5 and 10 trillion
// parameters, as published (43 TFLOP/s at 10 trillion).
TEST(OffloadHeadlines, ZeroInfinitysSpeed) {
  const auto tflops = [](const InfinityRow& row) {
    return simulate(infinity_case(row)).iteration.hfu * 125;
  };
  const double half = tflops({32, 124, 18432, 4, 28});
  EXPECT_NEAR(half, 68, 3);
  EXPECT_GT(tflops({32, 200, 65536, 4, 8}), 43.0 / 49 * half);
}

struct Found {
  double step_s = std::numeric_limits<double>::infinity();  // infinite if it does not fit
  double memory_bytes = 0;
};

enum class Choice { keep, swap, again, mixed };

// Runs the job on one V100 with this memory.
Found resnet(const std::string& model, int samples, double memory_bytes, Choice choice) {
  Job job = parse_case(fmt::format("name: resnet\nmodel: {}\ncluster: {{nodes: 1, node: {{base: "
                                   "dgx-v100, gpus: 1, nics: 1}}}}\nbatch: {{global: {}, micro: "
                                   "{}}}\nprecision: fp32\n",
                                   model, samples, samples),
                       "resnet.yaml")
                .job;
  job.cluster.node.gpu.memory_bytes.value = memory_bytes;
  Offload offload;
  if (choice == Choice::swap || choice == Choice::mixed) {
    offload.activations = MemoryTier::automatic;
  }
  job.offload = std::make_shared<const Offload>(offload);
  if (choice == Choice::again || choice == Choice::mixed) job.recompute = Recompute::automatic;
  if (leaves_memory_open(job)) job = with_memory_found(job);
  const PreparedIteration prepared = prepare_iteration(job);
  Found found{.memory_bytes = fullest_bytes(prepared.memory)};
  if (gpu_memory_excess(prepared.memory, job).empty()) {
    found.step_s = iteration_step_s(job, prepared);
  }
  return found;
}

// Tang et al. 2022 (arXiv 2203.15980) report 40 to 70 % less memory, and 2.04 and 2.25 times the
// batch for ResNet-50 and ResNet-101, with 16 GB/s of PCIe.
TEST(OffloadHeadlines, DeltaTradesMemoryForLittleTime) {
  for (const auto& [model, larger] : {std::pair{"resnet-50", 2.04}, {"resnet-101", 2.25}}) {
    int most = 1;
    while (std::isfinite(resnet(model, most + 8, 32e9, Choice::keep).step_s)) most += 8;
    const double alone_s = resnet(model, most, 32e9, Choice::keep).step_s / most;
    const int samples = static_cast<int>(larger * most);
    const Found mixed = resnet(model, samples, 32e9, Choice::mixed);
    EXPECT_LT(mixed.step_s / samples, 1.15 * alone_s) << model;  // per sample
    EXPECT_LT(mixed.step_s, 0.8 * resnet(model, samples, 32e9, Choice::swap).step_s) << model;
    EXPECT_LE(mixed.step_s, resnet(model, samples, 32e9, Choice::again).step_s) << model;
  }
}

TEST(OffloadHeadlines, DeltaSavesFortyToSeventyPercent) {
  const Found whole = resnet("resnet-50", 256, 32e9, Choice::keep);
  const Found less = resnet("resnet-50", 256, 16e9, Choice::mixed);
  EXPECT_LT(less.memory_bytes, 0.6 * whole.memory_bytes + 1e9);
  EXPECT_LT(less.step_s, 1.12 * whole.step_s);
  const Found least = resnet("resnet-50", 256, 9e9, Choice::mixed);
  EXPECT_LT(least.memory_bytes, 0.36 * whole.memory_bytes);
  EXPECT_LT(least.step_s, 1.6 * whole.step_s);
}

}  // namespace
}  // namespace windtunnel
