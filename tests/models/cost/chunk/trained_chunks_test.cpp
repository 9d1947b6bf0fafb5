// Costs of chunks of which only parts are trained, against closed forms.
#include <gtest/gtest.h>

#include <memory>

#include "models/cost/chunk/activations.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "models/cost/op/op.hpp"
#include "models/workload/training.hpp"
#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

const Batch kTuned{.global = 8, .micro = 1, .sequence = 2048};
constexpr double kRows = 2048;
constexpr double kHidden = 4096, kKeys = 1024, kFfn = 14336;

Job trained(const Training& training, const Layout& layout = {},
            Recompute recompute = Recompute::none) {
  Job job = test_job(llama3_8b(), layout, kTuned, Precision::bf16, recompute);
  job.training = std::make_shared<const Training>(training);
  return job;
}

// Returns a job in which one layer has this training.
Job at_layer(Training training, int layer = 0) {
  training.part = part_training(&training, layer, 32);
  return trained(training);
}

Training adapter(AdapterKind kind, int rank = 64) {
  return {.adapter = {.kind = kind, .rank = rank}};
}

double kept(const Job& job) {
  return layer_activations(job).kept;
}

double flops_of(const std::vector<Op>& ops, OpKind kind = OpKind::gemm) {
  double flops = 0;
  for (const Op& op : ops) flops += op.kind == kind ? op.flops : 0;
  return flops;
}

double seconds(const std::vector<CostPart>& parts) {
  return total_seconds(parts);
}

constexpr double kPairs = 7;  // q k v o gate up down

// Eager software keeps fp32 copies of both norms' inputs, and queries and keys beside rotated ones.
// With 4-bit weights it also keeps inputs that nothing reads: those of the up and down projections.
TEST(TrainedChunks, WhatEagerSoftwareKeepsBeside) {
  Training queries = adapter(AdapterKind::qlora);
  queries.adapter.keys = queries.adapter.values = queries.adapter.projection = false;
  queries.adapter.up = queries.adapter.down = false;
  Job job = at_layer(queries);
  double before = kept(job);
  job.software.norm_copy_bytes = 4;
  EXPECT_EQ(kept(job), before + 2 * 4 * kRows * kHidden);
  before = kept(job);
  job.software.whole_qkv = true;
  EXPECT_EQ(kept(job), before + 2 * kRows * (kHidden + 1024));
  before = kept(job);
  job.software.quantised_inputs = true;
  EXPECT_EQ(kept(job), before + 2 * kRows * (kHidden + kFfn));
}

// LoRA keeps the inputs of all products, and x A of each matrix. LoRA-FA keeps x A in place of
// inputs that nothing else reads: both norms' outputs and the input of the down projection.
// Attention's output stays, because its fused backward pass reads it.
TEST(TrainedChunks, WhatAdaptersKeep) {
  const double all = kept(test_job(llama3_8b(), {}, kTuned));
  const double pairs = 2 * kRows * 64 * kPairs;
  EXPECT_EQ(kept(at_layer(adapter(AdapterKind::lora))), all + pairs);
  const double spared = 2 * kRows * (2 * kHidden + kFfn);
  EXPECT_EQ(kept(at_layer(adapter(AdapterKind::lora_fa))), all - spared + pairs);
  EXPECT_EQ(kept(at_layer(adapter(AdapterKind::qlora))), all + pairs);
  // With dropout each matrix has a copy of its inputs, and a mask.
  const double inputs = kRows * (6 * kHidden + kFfn);
  for (const AdapterKind kind : {AdapterKind::lora, AdapterKind::lora_fa}) {
    Training dropping = adapter(kind);
    dropping.adapter.dropout = true;
    const double copies = kind == AdapterKind::lora ? 3 : 1;
    EXPECT_EQ(kept(at_layer(dropping)), all - spared + pairs + copies * inputs);
  }
  const double outputs = 2 * kRows * (3 * kHidden + 2 * kKeys + 2 * kFfn);
  EXPECT_EQ(kept(at_layer(adapter(AdapterKind::dora))), all + pairs + outputs);
}

TEST(TrainedChunks, AnAdapterKeepsTheInputsOfItsOwnProduct) {
  const double all = kept(test_job(llama3_8b(), {}, kTuned));
  Training training = adapter(AdapterKind::lora, 8);
  training.adapter.queries = training.adapter.keys = training.adapter.values = false;
  training.adapter.projection = training.adapter.up = false;
  const double down = 2 * kRows * 8;
  EXPECT_EQ(kept(at_layer(training)), all - 2 * kRows * 2 * kHidden + down);
}

// A frozen layer between trained ones keeps what its input gradient needs; below all trained layers
// nothing is kept.
TEST(TrainedChunks, FrozenLayersKeepLess) {
  Training training;
  training.frozen_embedding = true;
  training.frozen_layers = {true, false, true};
  const double all = kept(test_job(llama3_8b(), {}, kTuned));
  EXPECT_EQ(kept(at_layer(training, 0)), 0);
  EXPECT_EQ(kept(at_layer(training, 1)), all);
  EXPECT_EQ(kept(at_layer(training, 2)), all - 2 * kRows * (2 * kHidden + kFfn));
}

// Each matrix has two products of rank r in the forward pass and in each half of the backward pass.
// The base has no weight gradients, and with LoRA-FA A has none.
TEST(TrainedChunks, ProductsOfAdapters) {
  const Job all = test_job(llama3_8b(), {}, kTuned);
  const Job lora = at_layer(adapter(AdapterKind::lora));
  const auto flops = [](const Job& job, Pass pass) {
    return flops_of(block_ops(job, Block::layer, pass));
  };
  const double in = 6 * kHidden + kFfn;
  const double out = 3 * kHidden + 2 * kKeys + 2 * kFfn;
  const double pairs = 2 * kRows * 64 * (in + out);
  EXPECT_EQ(flops(lora, Pass::forward), flops(all, Pass::forward) + pairs);
  EXPECT_EQ(flops(lora, Pass::backward_input), flops(all, Pass::backward_input) + pairs);
  EXPECT_EQ(flops(lora, Pass::backward_weight), pairs);
  const Job half = at_layer(adapter(AdapterKind::lora_fa));
  EXPECT_EQ(flops(half, Pass::forward), flops(lora, Pass::forward));
  EXPECT_EQ(flops(half, Pass::backward_weight), 2 * kRows * 64 * out);
}

// Each pass except that for weight gradients reads 4.127 bits and writes 16 bits per weight of a
// layer.
TEST(TrainedChunks, AQuantisedBaseIsDequantisedInEachPass) {
  const Job job = at_layer(adapter(AdapterKind::qlora));
  const double weights = job.model.attention_parameters() + job.model.mlp_parameters();
  for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
    double bytes = 0;
    for (const Op& op : block_ops(job, Block::layer, pass)) {
      if (op.name == "dequantise") bytes += op.bytes;
    }
    EXPECT_NEAR(bytes, pass == Pass::backward_weight ? 0 : (2 + kNf4Bytes) * weights, 1);
  }
}

// In fp8 the base's weights are dequantised to the one byte that the product reads, and no step
// quantises weights.
TEST(TrainedChunks, AQuantisedBaseOfProductsInFp8) {
  Job job = at_layer(adapter(AdapterKind::qlora));
  job.precision = Precision::fp8;
  job.cluster.node.gpu.fp8_flops = parameter(2e15);
  const double weights = job.model.attention_parameters() + job.model.mlp_parameters();
  double written = 0;
  double quantised = 0;
  for (const Op& op : block_ops(job, Block::layer, Pass::forward)) {
    if (op.name == "dequantise") written += op.bytes;
    if (op.role == OpRole::quantise) quantised += op.bytes;
    if (op.name.starts_with("adapter") && op.kind == OpKind::gemm) {
      EXPECT_EQ(op.precision, Precision::bf16) << op.name;
    }
  }
  EXPECT_NEAR(written, (1 + kNf4Bytes) * weights, 1);
  Job lora = at_layer(adapter(AdapterKind::lora));
  lora.precision = Precision::fp8;
  lora.cluster.node.gpu.fp8_flops = job.cluster.node.gpu.fp8_flops;
  double as_lora = 0;
  for (const Op& op : block_ops(lora, Block::layer, Pass::forward)) {
    if (op.role == OpRole::quantise) as_lora += op.bytes;
  }
  EXPECT_EQ(quantised, as_lora);  // only activations are quantised
}

TEST(TrainedChunks, NoBackwardPassBelowTheFirstTrainedStage) {
  Training training;
  training.frozen_embedding = true;
  training.frozen_layers = std::vector<bool>(32, false);
  for (int layer = 0; layer < 20; ++layer) training.frozen_layers[layer] = true;
  const Layout layout{.pp = 4};
  const auto all = chunk_costs(test_job(llama3_8b(), layout, kTuned));
  const auto some = chunk_costs(trained(training, layout));
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_NEAR(some[stage].parameters + some[stage].frozen_parameters, all[stage].parameters, 1);
    EXPECT_EQ(seconds(some[stage].forward), seconds(all[stage].forward));
    EXPECT_EQ(some[stage].passes_gradient, stage == 3);
  }
  for (const int stage : {0, 1}) {
    EXPECT_EQ(some[stage].parameters, 0);
    EXPECT_EQ(some[stage].activation_bytes, 0);
    EXPECT_EQ(seconds(some[stage].backward_input) + seconds(some[stage].backward_weight), 0);
  }
  // Half of the third stage's layers are trained.
  EXPECT_NEAR(seconds(some[2].backward_weight), seconds(all[2].backward_weight) / 2, 1e-12);
  EXPECT_EQ(seconds(some[3].backward_input), seconds(all[3].backward_input));
  EXPECT_FALSE(all[0].passes_gradient);
  EXPECT_TRUE(all[1].passes_gradient);
}

TEST(TrainedChunks, ZerothOrderStepsRunForwardTwice) {
  const Job all = test_job(llama3_8b(), {.pp = 2}, kTuned);
  const auto once = chunk_costs(all);
  const auto twice =
      chunk_costs(trained({.method = TrainingMethod::zeroth_order}, {.pp = 2}, Recompute::full));
  for (int stage = 0; stage < 2; ++stage) {
    EXPECT_NEAR(seconds(twice[stage].forward), 2 * seconds(once[stage].forward), 1e-12);
    EXPECT_EQ(twice[stage].boundary_bytes, 2 * once[stage].boundary_bytes);
    EXPECT_EQ(twice[stage].parameters, once[stage].parameters);
    EXPECT_TRUE(twice[stage].backward_input.empty() && twice[stage].backward_weight.empty());
    EXPECT_TRUE(twice[stage].recompute.empty());
    EXPECT_EQ(twice[stage].activation_bytes, 0);
    EXPECT_FALSE(twice[stage].passes_gradient);
  }
}

// Logits are computed one chunk at a time, and none are kept.
TEST(TrainedChunks, ChunkedCrossEntropy) {
  const auto head = [](int chunks) {
    Training training;
    training.loss.chunks = chunks;
    return head_activations(trained(training));
  };
  const double logits = kRows * 128256;
  const LayerActivations whole = head(1);
  const Job job = test_job(llama3_8b(), {}, kTuned);
  const double copies = job.software.logit_bytes;
  EXPECT_EQ(whole.kept, head_activations(job).kept);
  for (const int chunks : {2, 16}) {
    const LayerActivations some = head(chunks);
    EXPECT_EQ(some.kept, whole.kept - 4 * logits);
    EXPECT_EQ(some.transient - 2 * 2 * kRows * kHidden, copies * logits / chunks);
  }
  // Chunking runs the same products, all in the forward pass.
  Training training;
  training.loss.chunks = 16;
  const auto flops = [](const Job& of) {
    double sum = 0;
    for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
      sum += flops_of(block_ops(of, Block::head, pass));
    }
    return sum;
  };
  EXPECT_NEAR(flops(trained(training)), flops(job), 1);
}

// Adapters of merged products are fewer and wider: one A for q, k and v, one for gate and up. Fused
// into the product's own kernel, the adapter's sum reads the base's output, and no kernel adds
// them.
TEST(TrainedChunks, PairsOfProductsAndFusedSums) {
  const auto job_of = [](bool per_product, bool fused) {
    Training training = adapter(AdapterKind::lora);
    training.adapter.per_product = per_product;
    Job job = at_layer(training);
    job.software.fused_adapters = fused;
    return job;
  };
  const auto ops_named = [](const Job& job, Pass pass, std::string_view name) {
    double bytes = 0;
    int count = 0;
    for (const Op& op : block_ops(job, Block::layer, pass)) {
      if (op.name != name) continue;
      ++count;
      bytes += op.bytes;
    }
    return std::pair(count, bytes);
  };
  for (const Pass pass : {Pass::forward, Pass::backward_input}) {
    EXPECT_EQ(ops_named(job_of(false, false), pass, "adapter A").first, 7);
    EXPECT_EQ(ops_named(job_of(true, false), pass, "adapter A").first, 4);
    EXPECT_EQ(ops_named(job_of(true, true), pass, "adapter sum").first, 0);
  }
  const double out = 3 * kHidden + 2 * kKeys + 2 * kFfn;
  EXPECT_EQ(ops_named(job_of(true, false), Pass::forward, "adapter sum").second,
            3 * 2 * kRows * out);
  EXPECT_EQ(ops_named(job_of(true, true), Pass::forward, "adapter B").second -
                ops_named(job_of(true, false), Pass::forward, "adapter B").second,
            2 * kRows * out);
  // With dropout, a kernel of the mask lies between the adapter and the sum, which the base's
  // product still adds.
  Job dropped = job_of(true, true);
  Training training = *dropped.training;
  training.adapter.dropout = true;
  dropped.training = std::make_shared<const Training>(training);
  EXPECT_EQ(ops_named(dropped, Pass::backward_input, "adapter sum").first, 0);
  EXPECT_EQ(ops_named(dropped, Pass::backward_input, "adapter dropout").first, 4);
}

// The module of a product launches its adapter's kernels too; when compiled, the sum is part of the
// kernel that reads it.
TEST(TrainedChunks, AModuleLaunchesItsAdapters) {
  Job job = at_layer(adapter(AdapterKind::lora));
  const auto launches = [&](Pass pass) {
    double further = 0;
    for (const Op& op : block_ops(job, Block::layer, pass)) further += op.further ? op.launches : 0;
    return further;
  };
  EXPECT_EQ(launches(Pass::forward), 3 * kPairs);
  EXPECT_EQ(launches(Pass::backward_input), 3 * kPairs);
  EXPECT_EQ(launches(Pass::backward_weight), 2 * kPairs);
  job.software.fusion = Fusion::compiled;
  EXPECT_EQ(launches(Pass::forward), 2 * kPairs);
}

}  // namespace
}  // namespace windtunnel
