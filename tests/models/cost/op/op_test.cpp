#include "models/cost/op/op.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/cost/op/op_cost.hpp"
#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

const Batch kBatch{.global = 2, .micro = 2, .sequence = 2048};

double flops(const std::vector<Op>& ops, OpKind kind) {
  double sum = 0;
  for (const Op& op : ops) sum += op.kind == kind ? op.flops : 0;
  return sum;
}

double memory_bytes(const std::vector<Op>& ops) {
  double sum = 0;
  for (const Op& op : ops) sum += op.kind == OpKind::memory ? op.bytes : 0;
  return sum;
}

std::vector<Op> layer_ops(const TransformerSpec& model, const Layout& layout, Pass pass) {
  return block_ops(test_job(model, layout, kBatch), Block::layer, pass);
}

// FLOPs of the GEMMs of these passes over the whole model on one GPU.
double model_gemm_flops(const TransformerSpec& model, std::initializer_list<Pass> passes) {
  const Job job = test_job(model, {}, kBatch);
  const auto block_flops = [&](Block block, Pass pass) {
    const std::vector<Op> ops = block_ops(job, block, pass);
    return flops(ops, OpKind::gemm) + flops(ops, OpKind::attention_gemm);
  };
  double sum = 0;
  for (const Pass pass : passes) {
    sum += (model.layers - model.moe_layers()) * block_flops(Block::layer, pass) +
           block_flops(Block::head, pass);
    if (model.moe_layers() > 0) sum += model.moe_layers() * block_flops(Block::moe_layer, pass);
  }
  return sum;
}

// A model with grouped queries, wide heads and experts, without shared experts.
TransformerSpec wide_headed_experts() {
  TransformerSpec model = llama3_8b();
  model.head_width = 160;
  model.moe = {.experts = 64, .per_token = 4, .ffn_hidden = 1536};
  return model;
}

TransformerSpec direct_queries() {
  TransformerSpec model = deepseek_v3();
  model.latent.query_rank = 0;
  return model;
}

// Unfused attention computes the whole square: all passes together are model_flops().
TEST(Op, AllPassesOfAnUnfusedModelSumToModelFlops) {
  for (TransformerSpec model :
       {gpt3_175b(), llama3_8b(), deepseek_v3(), wide_headed_experts(), direct_queries()}) {
    model.attention = AttentionKernel::unfused;
    model.vocabulary = padded_vocabulary(model.vocabulary, 1);
    const double sum =
        model_gemm_flops(model, {Pass::forward, Pass::backward_input, Pass::backward_weight});
    EXPECT_NEAR(sum / model_flops(model, kBatch.micro, kBatch.sequence), 1, 1e-12) << model.name;
  }
}

// 37 B parameters are active per token (arXiv 2412.19437, abstract); 0.93 B of them are the
// embedding, which costs no FLOPs.
TEST(Op, DeepSeekV3CostsTwoFlopsPerActiveParameter) {
  const double forward = model_gemm_flops(deepseek_v3(), {Pass::forward});
  EXPECT_NEAR(forward / (kBatch.micro * 2048) / 2, 37e9 - 0.93e9, 0.02 * 37e9);
}

// Tiles at the edge of a window are computed whole; a window as long as the sequence has no such
// edge.
TEST(Op, AWindowIsComputedInWholeTiles) {
  TransformerSpec model = llama3_8b();
  GpuGeneration generation = GpuGeneration::hopper;
  const auto attention = [&](int window) {
    model.window = window;
    Job job = test_job(model, {}, kBatch);
    job.cluster.node.gpu.generation = generation;
    return op_named(block_ops(job, Block::layer, Pass::forward), "attention");
  };
  const Op causal = attention(0);
  EXPECT_EQ(attention(2048).n, causal.n);
  EXPECT_EQ(attention(2048).speed, causal.speed);
  const Op windowed = attention(128);
  const double seen = windowed_keys(model, 0, 2048);
  EXPECT_DOUBLE_EQ(windowed.flops / causal.flops, seen / 1024);
  EXPECT_DOUBLE_EQ(windowed.speed / causal.speed, seen / (seen + 64));  // tiles of 128 queries
  EXPECT_DOUBLE_EQ(windowed.n, 2 * (seen + 64));
  generation = GpuGeneration::blackwell;
  EXPECT_DOUBLE_EQ(attention(128).speed / causal.speed, seen / (seen + 128));  // pairs of tiles
  EXPECT_DOUBLE_EQ(attention(128).n, 2 * (seen + 128));
}

TEST(Op, EachBackwardHalfOfTheLinearLayersCostsAForward) {
  const TransformerSpec llama = llama3_405b();
  const double forward = flops(layer_ops(llama, {}, Pass::forward), OpKind::gemm);
  EXPECT_EQ(flops(layer_ops(llama, {}, Pass::backward_input), OpKind::gemm), forward);
  EXPECT_EQ(flops(layer_ops(llama, {}, Pass::backward_weight), OpKind::gemm), forward);
}

TEST(Op, FusedAttentionDoesTheCausalHalfAndTwoAndAHalfTimesThatBackward) {
  const TransformerSpec llama = llama3_8b();
  const double square = 4.0 * kBatch.micro * 2048 * 2048 * 4096;
  EXPECT_EQ(op_named(layer_ops(llama, {}, Pass::forward), "attention").flops, square / 2);
  EXPECT_EQ(op_named(layer_ops(llama, {}, Pass::backward_input), "attention").flops,
            2.5 * square / 2);
}

TEST(Op, TensorAndContextParallelismDivideTheArithmetic) {
  const TransformerSpec llama = llama3_8b();
  for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
    const auto whole = layer_ops(llama, {}, pass);
    const auto part = layer_ops(llama, {.tp = 4, .cp = 2}, pass);
    for (const Op& op : whole) EXPECT_EQ(op_named(part, op.name).flops, op.flops / 8) << op.name;
  }
}

TEST(Op, SequenceParallelismDividesNormsAndResiduals) {
  const TransformerSpec llama = llama3_8b();
  const auto plain = layer_ops(llama, {.tp = 4}, Pass::forward);
  const auto split = layer_ops(llama, {.tp = 4, .sequence_parallel = true}, Pass::forward);
  for (const char* name : {"norm 1", "norm 2", "residual 1", "residual 2"}) {
    EXPECT_EQ(op_named(split, name).bytes, op_named(plain, name).bytes / 4) << name;
  }
  for (const char* name : {"qkv", "swiglu", "rotary", "down"}) {
    EXPECT_EQ(op_named(split, name).bytes, op_named(plain, name).bytes) << name;
  }
}

TEST(Op, ShapesOfALlamaLayerByHand) {
  const auto ops = layer_ops(llama3_8b(), {.tp = 2}, Pass::forward);
  const Op& qkv = op_named(ops, "qkv");  // 32 query and 2 x 8 key/value heads of 128, halved
  EXPECT_EQ(qkv.m, 4096);
  EXPECT_EQ(qkv.n, (32 + 16) * 128 / 2);
  EXPECT_EQ(qkv.k, 4096);
  EXPECT_EQ(op_named(ops, "up").n, 14336);  // gate and up together, halved
  EXPECT_EQ(op_named(ops, "down").k, 7168);
  // The kernel reads gate and up and writes their product: 3 x 2 B per element.
  EXPECT_EQ(op_named(ops, "swiglu").bytes, 6.0 * 4096 * 7168);
}

TEST(Op, WeightGradientsAccumulateInFp32) {
  const auto ops = layer_ops(llama3_8b(), {}, Pass::backward_weight);
  const Op& down = op_named(ops, "down");
  EXPECT_EQ(down.m, 4096);
  EXPECT_EQ(down.n, 14336);
  EXPECT_EQ(down.k, 4096);
  EXPECT_EQ(down.bytes, 2.0 * 4096 * (4096 + 14336) + 8.0 * 4096 * 14336);
}

TEST(Op, RecomputedOpsAreNoneSomeOrAllOfTheForward) {
  TransformerSpec gpt = gpt3_175b();
  const auto recomputed = [&](Recompute recompute) {
    return recomputed_ops(test_job(gpt, {}, kBatch, Precision::bf16, recompute), Block::layer);
  };
  EXPECT_TRUE(recomputed(Recompute::none).empty());
  EXPECT_EQ(flops(recomputed(Recompute::selective), OpKind::gemm), 0);
  EXPECT_GT(memory_bytes(recomputed(Recompute::selective)), 0);
  const auto forward = layer_ops(gpt, {}, Pass::forward);
  EXPECT_EQ(recomputed(Recompute::full).size(), forward.size());
  EXPECT_EQ(memory_bytes(recomputed(Recompute::full)), memory_bytes(forward));

  gpt.attention = AttentionKernel::unfused;  // the scores, one of two products, are recomputed
  EXPECT_EQ(flops(recomputed(Recompute::selective), OpKind::gemm), 0);
  EXPECT_EQ(flops(recomputed(Recompute::selective), OpKind::attention_gemm),
            2.0 * kBatch.micro * 2048 * 2048 * 12288);
}

TEST(Op, RecomputationThatStopsEarlyLeavesOutTheLastProduct) {
  Job job = test_job(llama3_8b(), {}, kBatch, Precision::bf16, Recompute::full);
  const double whole = flops(recomputed_ops(job, Block::layer), OpKind::gemm);
  const double down = op_named(layer_ops(llama3_8b(), {}, Pass::forward), "down").flops;
  job.software.early_stop = true;
  EXPECT_EQ(flops(recomputed_ops(job, Block::layer), OpKind::gemm), whole - down);
}

// FLOPs per token of products that recomputed modules repeat in a layer of DeepSeek-V3.
TEST(Op, ModulesRepeatTheirKernels) {
  const auto repeated = [&](Recompute recompute, OpKind kind, Block block = Block::moe_layer) {
    const Job job = test_job(deepseek_v3(), {}, kBatch, Precision::bf16, recompute);
    return flops(recomputed_ops(job, block), kind) / (kBatch.micro * kBatch.sequence);
  };
  using enum RecomputeModule;
  for (const Recompute cheap : {Recompute::of(layernorm), Recompute::of(moe_act)}) {
    EXPECT_EQ(repeated(cheap, OpKind::gemm), 0);
  }
  const double queries = 1536.0 * 128 * 192;
  const double keys_and_values = 512.0 * 128 * (128 + 128);
  EXPECT_NEAR(repeated(Recompute::of(mla_up_proj), OpKind::gemm), 2 * (queries + keys_and_values),
              1);
  EXPECT_NEAR(repeated(Recompute::of(shared_experts), OpKind::gemm), 2 * 3.0 * 7168 * 2048, 1);
  EXPECT_NEAR(repeated(Recompute::of(mlp), OpKind::gemm, Block::layer), 2 * 3.0 * 7168 * 18432, 1);
  EXPECT_NEAR(repeated(Recompute::of(moe), OpKind::gemm), 2 * (9 * 3.0 * 7168 * 2048 + 7168 * 256),
              1);
  EXPECT_GT(repeated(Recompute::of(core_attn), OpKind::attention_forward), 0);
  EXPECT_EQ(repeated(Recompute::of(core_attn), OpKind::gemm), 0);
}

// Queries, keys and values are kept, and nothing after them: attention and its projection run
// again.
TEST(Op, AttentionIsRecomputedUpToTheSumBehindIt) {
  using enum RecomputeModule;
  Job job = test_job(llama3_8b(), {}, kBatch, Precision::bf16, Recompute::of(core_attn));
  const auto core = recomputed_ops(job, Block::layer);
  job.recompute = Recompute::of(attention);
  const auto all = recomputed_ops(job, Block::layer);
  const double rows = 4096;
  EXPECT_NEAR(flops(all, OpKind::gemm) - flops(core, OpKind::gemm), 2 * rows * 4096 * 4096, 1);
  EXPECT_EQ(flops(all, OpKind::attention_forward), flops(core, OpKind::attention_forward));
  // The recomputation of every other product already repeats the projection.
  job.recompute = Recompute::of(matmuls, attention);
  const double together = flops(recomputed_ops(job, Block::layer), OpKind::gemm);
  job.recompute = Recompute::of(matmuls);
  EXPECT_EQ(together, flops(recomputed_ops(job, Block::layer), OpKind::gemm));
}

// The recomputed products are those of keys, the projection, and one of the two matrices (gate and
// up) of the up projection.
TEST(Op, EveryOtherProductIsRecomputed) {
  Job job = test_job(llama3_8b(), {}, kBatch, Precision::bf16, Recompute::selective);
  job.recompute = Recompute::of(RecomputeModule::matmuls);
  const double rows = 4096;
  EXPECT_NEAR(flops(recomputed_ops(job, Block::layer), OpKind::gemm),
              2 * rows * 4096 * (1024 + 4096 + 14336), 1);
}

TEST(Op, WideHeadsWidenTheirProjectionsAlone) {
  TransformerSpec model = llama3_8b();  // 32 heads of 128 make up its hidden size
  model.head_width = 192;
  const auto ops = layer_ops(model, {.tp = 2}, Pass::forward);
  EXPECT_EQ(op_named(ops, "qkv").n, (32 + 16) * 192 / 2);
  EXPECT_EQ(op_named(ops, "projection").k, 32 * 192 / 2);
  EXPECT_EQ(op_named(ops, "projection").n, 4096);
  EXPECT_EQ(op_named(ops, "attention").k, 192);
}

// Down projections are replicated on every tp rank, over its own rows. Up projections and attention
// have half of the 128 heads, with queries and keys 128 + 64 wide and values 128 wide.
TEST(Op, LatentAttentionByHand) {
  const Layout layout{.tp = 2, .sequence_parallel = true};
  const auto ops = layer_ops(deepseek_v3(), layout, Pass::forward);
  const auto expect_shape = [&](const char* name, double m, double n, double k) {
    const Op& op = op_named(ops, name);
    EXPECT_EQ(op.m, m) << name;
    EXPECT_EQ(op.n, n) << name;
    EXPECT_EQ(op.k, k) << name;
  };
  expect_shape("q down", 2048, 1536, 7168);
  expect_shape("q up", 4096, 64 * 192, 1536);
  expect_shape("kv down", 2048, 512 + 64, 7168);
  expect_shape("kv up", 4096, 64 * (128 + 128), 512);
  expect_shape("projection", 4096, 7168, 64 * 128);
  const Op& attention = op_named(ops, "attention");
  EXPECT_EQ(attention.flops, 2.0 * 2 * 64 * 2048 * 2048 * (192 + 128) / 2);
  // The bytes are those of queries and keys 192 wide, and of values and output 128 wide, at 2 B
  // each.
  EXPECT_EQ(attention.bytes, 2.0 * 4096 * 64 * (2 * 192 + 2 * 128));
}

// There are 4096 rows on 2 tp ranks, 8 copies of each row, and 256 experts on 8 ranks.
TEST(Op, ExpertsByHand) {
  const Layout layout{.tp = 2, .dp = 4, .ep = 8, .sequence_parallel = true};
  const Job job = test_job(deepseek_v3(), layout, kBatch);
  const auto ops = block_ops(job, Block::moe_layer, Pass::forward);
  const double copies = 2048 * 8;
  const Op& up = op_named(ops, "expert up");
  EXPECT_EQ(up.batch, 32);
  EXPECT_EQ(up.m, copies / 32);
  EXPECT_EQ(up.n, 2 * 2048);
  EXPECT_EQ(up.k, 7168);
  EXPECT_EQ(up.bytes, 2 * (copies * 7168 + 32 * 7168.0 * 4096 + copies * 4096));
  EXPECT_EQ(op_named(ops, "expert down").k, 2048);
  EXPECT_EQ(op_named(ops, "permute").bytes, 2.0 * 7168 * (2048 + copies));
  EXPECT_EQ(op_named(ops, "sort").bytes, 2 * 2.0 * 7168 * copies);
  EXPECT_EQ(op_named(ops, "shared up").m, 4096);
  EXPECT_EQ(op_named(ops, "shared up").n, 2 * 2048 / 2);
  EXPECT_EQ(op_named(ops, "router").n, 256);
  EXPECT_EQ(op_named(ops, "router").m, 2048);
}

// Merged dispatch copies rows after the exchange. Without an exchange the copies are made where
// they always are.
TEST(Op, MergedDispatchNeedsAnExchange) {
  Job job = test_job(deepseek_v3(), {}, kBatch);
  for (const Pass pass : {Pass::forward, Pass::backward_input}) {
    job.software.ep_merged = false;
    const double bytes = memory_bytes(block_ops(job, Block::moe_layer, pass));
    job.software.ep_merged = true;
    EXPECT_EQ(memory_bytes(block_ops(job, Block::moe_layer, pass)), bytes);
  }
}

// The kernels of 32 local experts are launched one by one; a fused kernel is launched once, and
// contains what follows the first GEMM. Rows that are sent once per expert are copied before the
// exchange, those sent once per rank after it.
TEST(Op, ExpertsAreLaunchedOneByOneUnlessFused) {
  const Layout layout{.dp = 8, .ep = 8};
  Job job = test_job(deepseek_v3(), layout, kBatch, Precision::mxfp8);
  const auto launches = [&] {
    double sum = 0;
    for (const Op& op : block_ops(job, Block::moe_layer, Pass::forward)) {
      sum += op.routed ? op.launches : 0;
    }
    return sum;
  };
  const auto has = [&](std::string_view name) {
    const auto ops = block_ops(job, Block::moe_layer, Pass::forward);
    return std::ranges::any_of(ops, [&](const Op& op) { return op.name == name; });
  };
  // A pass has two GEMMs, the quantising of each one's input, the activation, permutations and
  // sorting.
  EXPECT_EQ(launches(), 4 * 32 + 1 + 4);
  job.software.fused_experts = true;
  EXPECT_EQ(launches(), 3 + 4);
  EXPECT_FALSE(has("expert activation"));
  EXPECT_TRUE(has("permute"));
  job.software.ep_merged = true;
  EXPECT_FALSE(has("permute"));
  EXPECT_TRUE(has("sort"));
}

// These casts are as slow as the calibration states; a single expert on a GPU is cast like any
// tensor.
TEST(Op, WhatExpertsReadIsCastOneAfterTheOther) {
  const auto casts_s = [](int ranks, Block block, double share) {
    const Layout layout{.dp = ranks, .ep = ranks};
    Job job = test_job(deepseek_v3(), layout, kBatch, Precision::mxfp8);
    job.calibration.expert_cast_share.value = share;
    double sum_s = 0;
    for (const Op& op : block_ops(job, block, Pass::forward)) {
      if (op.role != OpRole::quantise || (block == Block::moe_layer && !op.routed)) continue;
      sum_s += op_cost(op, job.cluster.node.gpu, job.precision, job.calibration).seconds;
    }
    return sum_s;
  };
  EXPECT_GT(casts_s(8, Block::moe_layer, 1), 0);
  EXPECT_DOUBLE_EQ(casts_s(8, Block::moe_layer, 0.25), 4 * casts_s(8, Block::moe_layer, 1));
  EXPECT_DOUBLE_EQ(casts_s(256, Block::moe_layer, 0.25), casts_s(256, Block::moe_layer, 1));
  EXPECT_DOUBLE_EQ(casts_s(8, Block::layer, 0.25), casts_s(8, Block::layer, 1));
}

// With 4096 rows to 4 experts each, the bias takes six fp32 passes over the output, and its 16-bit
// form.
TEST(Op, BiasOfExpertsIsAddedInFp32) {
  TransformerSpec model = wide_headed_experts();
  model.biases = true;
  const Job job = test_job(model, {}, kBatch);
  const Op bias = op_named(block_ops(job, Block::moe_layer, Pass::forward), "expert bias");
  EXPECT_EQ(bias.bytes, (6 * 4 + 2) * 4096.0 * 4 * model.hidden);
  EXPECT_EQ(bias.launches, 2 * 64);
}

// The pass for input gradients reads and writes one byte per weight of the layer.
TEST(Op, WeightsThatAreNotKeptTransposedAreTransposedInTheBackwardPass) {
  const TransformerSpec model = llama3_8b();
  const auto bytes = [&](Precision precision, Pass pass, bool kept) {
    Job job = test_job(model, {}, kBatch, precision);
    job.software.weight_transposes = kept;
    double sum = 0;
    for (const Op& op : block_ops(job, Block::layer, pass)) {
      sum += op.name == "transpose" ? op.bytes : 0;
    }
    return sum;
  };
  const double weights = model.attention_parameters() + model.mlp_parameters();
  EXPECT_DOUBLE_EQ(bytes(Precision::fp8, Pass::backward_input, false), 2 * weights);
  EXPECT_EQ(bytes(Precision::fp8, Pass::backward_input, true), 0);
  EXPECT_EQ(bytes(Precision::fp8, Pass::forward, false), 0);
  EXPECT_EQ(bytes(Precision::fp8, Pass::backward_weight, false), 0);
  EXPECT_EQ(bytes(Precision::mxfp8, Pass::backward_input, false), 0);
}

// Scaled GEMMs read their operands in fewer bytes; router and loss head stay in 16 bits.
TEST(Op, ScaledPrecisionsQuantiseInputsGradientsAndWeights) {
  const TransformerSpec model = deepseek_v3();
  Batch batch = kBatch;
  batch.global = 8;  // four micro-batches share the quantised weights
  const auto ops = [&](Precision precision, Block block, Pass pass) {
    return block_ops(test_job(model, {}, batch, precision), block, pass);
  };
  const auto down = [&](Precision precision, Pass pass) {
    return op_named(ops(precision, Block::layer, pass), "down").bytes;
  };
  const double rows = 4096, in = 18432, out = 7168;
  EXPECT_EQ(down(Precision::fp8, Pass::forward), rows * in + in * out + 2 * rows * out);
  EXPECT_EQ(down(Precision::nvfp4, Pass::forward),
            0.5625 * (rows * in + in * out) + 2 * rows * out);
  EXPECT_EQ(down(Precision::mxfp8, Pass::backward_weight),
            (1 + 1.0 / 32) * rows * (in + out) + 8 * in * out);

  const auto quantised = [&](Precision precision, Pass pass) {
    double bytes = 0;
    for (const Op& op : ops(precision, Block::layer, pass)) {
      bytes += op.name == "quantise" ? op.bytes : 0;
    }
    return bytes;
  };
  const double inputs = rows * (7168 + 1536 + 7168 + 512 + 128 * 128 + 7168 + 18432);
  const double gradients = rows * (1536 + 128 * 192 + 576 + 128 * 256 + 7168 + 2 * 18432 + 7168);
  const double weights = model.attention_parameters() + model.mlp_parameters();
  const double bytes = 2 + 2 * (1 + 1.0 / 32);
  EXPECT_DOUBLE_EQ(quantised(Precision::mxfp8, Pass::forward), bytes * (inputs + weights / 4));
  EXPECT_DOUBLE_EQ(quantised(Precision::mxfp8, Pass::backward_input), bytes * gradients);
  // The norm writes the MLP's input in fp8, the activation its output and its gradient.
  const double written = rows * (7168 + 18432);
  EXPECT_DOUBLE_EQ(quantised(Precision::fp8, Pass::forward), 6 * (inputs - written + weights / 4));
  EXPECT_DOUBLE_EQ(quantised(Precision::fp8, Pass::backward_input),
                   6 * (gradients - rows * 2 * 18432));
  EXPECT_EQ(quantised(Precision::fp8, Pass::backward_weight), 0);
  EXPECT_EQ(quantised(Precision::bf16, Pass::forward), 0);

  const auto in_16_bit = [&](Block block, const char* name) {
    const auto scaled = ops(Precision::nvfp4, block, Pass::forward);
    EXPECT_EQ(op_named(scaled, name).precision, Precision::bf16);
    EXPECT_EQ(op_named(scaled, name).bytes,
              op_named(ops(Precision::bf16, block, Pass::forward), name).bytes);
  };
  in_16_bit(Block::head, "logits");
  in_16_bit(Block::moe_layer, "router");
}

TEST(Op, WorkOfExpertsRisesWithCopiesWidthAndImbalance) {
  const auto work = [](int per_token, int width, double imbalance) {
    TransformerSpec model = deepseek_v3();
    model.moe.per_token = per_token;
    model.moe.ffn_hidden = width;
    model.moe.imbalance = imbalance;
    const Job job = test_job(model, {.dp = 8, .ep = 8}, kBatch);
    double sum = 0;
    for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
      const auto ops = block_ops(job, Block::moe_layer, pass);
      sum += flops(ops, OpKind::gemm) + memory_bytes(ops);
    }
    return sum;
  };
  EXPECT_LT(work(4, 2048, 1), work(8, 2048, 1));
  EXPECT_LT(work(8, 2048, 1), work(8, 3072, 1));
  EXPECT_LT(work(8, 2048, 1), work(8, 2048, 1.2));
}

TEST(Op, SelectiveRecomputationRepeatsBothActivationsOfAnExpertLayer) {
  const Job job = test_job(deepseek_v3(), {}, kBatch, Precision::bf16, Recompute::selective);
  const auto ops = recomputed_ops(job, Block::moe_layer);
  const double rows = 4096;
  EXPECT_EQ(op_named(ops, "expert activation").bytes, 2 * 8 * rows * 3 * 2048);
  EXPECT_EQ(op_named(ops, "shared activation").bytes, 2 * rows * 3 * 2048);
  EXPECT_EQ(flops(ops, OpKind::gemm), 0);
}

// In ring attention each of cp steps sees the keys of one rank, and all outputs but the first are
// merged.
TEST(Op, RingAttentionIsOneKernelPerStep) {
  const TransformerSpec llama = llama3_8b();
  const auto ops = layer_ops(llama, {.cp = 4}, Pass::forward);
  EXPECT_EQ(op_named(ops, "attention").n, 512);
  EXPECT_EQ(op_named(ops, "attention").batch, 2 * 32 * 4);
  EXPECT_GT(op_named(ops, "ring merge").bytes, 0);
  for (const Op& op : layer_ops(llama, {}, Pass::forward)) EXPECT_NE(op.name, "ring merge");
}

// Scores, softmax, context and transposes are launched by one module of attention.
TEST(Op, OneModuleLaunchesTheKernelsOfUnfusedAttention) {
  TransformerSpec model = llama3_8b();
  model.attention = AttentionKernel::unfused;
  const Job job = test_job(model, {}, {.global = 1, .sequence = 1024});
  for (const Pass pass : {Pass::forward, Pass::backward_input}) {
    int products = 0, modules = 0;
    for (const Op& op : block_ops(job, Block::layer, pass)) {
      if (op.kind != OpKind::attention_gemm) continue;
      ++products;
      if (!op.further) ++modules;
    }
    EXPECT_EQ(products, pass == Pass::forward ? 2 : 4);
    EXPECT_EQ(modules, 1);
  }
}

// With one scale per tensor the values are read twice (for the maximum and for the cast, 2 x 2 B),
// and written along rows and along columns (2 x 1 B), or along rows only if products take any
// layout. Block scales differ by direction and are always written twice.
TEST(Op, Fp8IsWrittenOnceWhereProductsTakeAnyLayout) {
  const auto quantised_bytes = [](Precision precision, GpuGeneration generation) {
    Job job = test_job(llama3_8b(), {}, {.global = 1, .sequence = 1024}, precision);
    job.cluster.node.gpu.generation = generation;
    double bytes = 0;
    for (const Op& op : block_ops(job, Block::layer, Pass::forward)) {
      if (op.role == OpRole::quantise) bytes += op.bytes;
    }
    return bytes;
  };
  const double hopper = quantised_bytes(Precision::fp8, GpuGeneration::hopper);
  ASSERT_GT(hopper, 0);
  EXPECT_DOUBLE_EQ(quantised_bytes(Precision::fp8, GpuGeneration::blackwell), hopper * 5 / 6);
  EXPECT_DOUBLE_EQ(quantised_bytes(Precision::mxfp8, GpuGeneration::blackwell),
                   quantised_bytes(Precision::mxfp8, GpuGeneration::hopper));
}

}  // namespace
}  // namespace windtunnel
