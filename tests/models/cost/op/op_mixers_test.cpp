// Mixers other than attention and Mamba, gated attention, and sparse attention to keys that an
// indexer chooses, computed by hand.
#include <gtest/gtest.h>

#include "models/cost/chunk/activations.hpp"
#include "models/cost/op/op.hpp"
#include "models/cost/parallel/tensor_rules.hpp"
#include "models/workload/stage_parameters.hpp"
#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

const Batch kMixedBatch{.global = 4, .micro = 1, .sequence = 4096};

// Qwen3-Next has 16 heads of keys and 32 of values in a layer.
TransformerSpec mixed_model(ScanKind kind, int groups = 16, int heads = 32) {
  TransformerSpec model = llama3(4, 2048, 16, 512);
  model.mamba = {.kind = kind, .state = 128, .head_width = 128, .groups = groups, .heads = heads};
  model.pattern = "LLLT";
  return model;
}

TransformerSpec choosing_model() {
  TransformerSpec model = deepseek_v3();
  model.sparse = {.heads = 64, .width = 128, .top_k = 2048};
  return model;
}

double flops_of(const Job& job, Block block, Pass pass, OpKind kind) {
  double sum = 0;
  for (const Op& op : block_ops(job, block, pass)) sum += op.kind == kind ? op.flops : 0;
  return sum;
}

double products_of_mixer(const TransformerSpec& model) {
  Job job = test_job(model, {}, kMixedBatch);
  return flops_of(job, Block::mamba, Pass::forward, OpKind::gemm) / kMixedBatch.sequence;
}

// The module of transformers' modeling_qwen3_next.py has in_proj_qkvz, in_proj_ba, conv1d, A_log,
// dt_bias, norm and out_proj.
TEST(OpMixers, GatedDeltaNetHasTheTensorsOfItsModule) {
  const double columns = 2 * 2048 + 2 * 4096 + 2 * 32;
  const double expected = 2048 * columns + (2 * 2048 + 4096) * 4 + 32 + 32 + 128 + 4096.0 * 2048;
  const TransformerSpec model = mixed_model(ScanKind::gated_delta);
  EXPECT_EQ(model.mamba_parameters(), expected);
  EXPECT_DOUBLE_EQ(products_of_mixer(model), 2 * (2048 * columns + 4096.0 * 2048));
}

// The module of modeling_kimi.py has q, k, v with a convolution each, f_a and f_b, b, g_a and g_b,
// A_log, dt_bias, o_norm and o_proj.
TEST(OpMixers, KimiDeltaAttentionHasTheTensorsOfItsModule) {
  const double inner = 32 * 128;
  const double low_rank = 2 * (2048 * 128 + 128 * inner);
  const double matrices = 2048 * 3 * inner + 2048 * 32 + low_rank + inner * 2048;
  const TransformerSpec model = mixed_model(ScanKind::kimi_delta, 32);
  EXPECT_EQ(model.mamba_parameters(), matrices + 3 * inner * 4 + 32 + inner + 128);
  EXPECT_DOUBLE_EQ(products_of_mixer(model), 2 * matrices);
}

TEST(OpMixers, LightningAttentionHasFourMatricesAndANorm) {
  const TransformerSpec model = mixed_model(ScanKind::lightning, 32);
  EXPECT_EQ(model.mamba_parameters(), 5.0 * 2048 * 4096 + 4096);
}

// Per chunk of 64 and head, with keys and values 128 wide, there are the triangle and its inverse,
// W and U, two products with the state, the scores, and the output from the state and from half of
// the chunk.
TEST(OpMixers, TheDeltaRuleIsLinearInTheSequence) {
  Job job = test_job(mixed_model(ScanKind::gated_delta), {}, kMixedBatch);
  const double q = 64;
  const double w = 128;
  const double head = q * w + q * q / 2 + 2 * q * w + 2 * w * w + q * w + w * (w + q / 2);
  const double forward = 2 * 32 * head * 4096;
  EXPECT_DOUBLE_EQ(flops_of(job, Block::mamba, Pass::forward, OpKind::attention_gemm), forward);
  job.batch.sequence *= 8;
  EXPECT_DOUBLE_EQ(flops_of(job, Block::mamba, Pass::forward, OpKind::attention_gemm), 8 * forward);
}

// num_floating_point_operations() of Megatron-LM counts four products of a head's width by its
// state.
TEST(OpMixers, OperationsByTheConventionAreThoseOfMegatron) {
  const TransformerSpec model = mixed_model(ScanKind::gated_delta);
  const LayerFlops flops = layer_flops(model, 4096, Block::mamba);
  EXPECT_DOUBLE_EQ(flops.attention, 2 * 32 * 128 * 128 * 4.0);
  EXPECT_DOUBLE_EQ(flops.products, products_of_mixer(model));
}

TEST(OpMixers, EveryKindDividesByTensorRanks) {
  for (const ScanKind kind :
       {ScanKind::mamba2, ScanKind::gated_delta, ScanKind::kimi_delta, ScanKind::lightning}) {
    const int groups = kind == ScanKind::kimi_delta || kind == ScanKind::lightning ? 32 : 16;
    const Job whole = test_job(mixed_model(kind, groups), {}, kMixedBatch);
    Job divided = whole;
    divided.layout.tp = 4;
    for (const Pass pass : {Pass::forward, Pass::backward_input}) {
      EXPECT_DOUBLE_EQ(4 * flops_of(divided, Block::mamba, pass, OpKind::attention_gemm),
                       flops_of(whole, Block::mamba, pass, OpKind::attention_gemm));
    }
    // Weights that every rank holds undivided are less than 2 % of the layer.
    const TransformerSpec& model = whole.model;
    const double rank = layer_parameters_per_gpu(model, divided.layout, Block::mamba).dense;
    EXPECT_NEAR(4 * rank / model.layer_parameters(Block::mamba), 1, 0.06);
  }
}

TEST(OpMixers, AWholeLayerIsItsHalves) {
  const Job job = test_job(mixed_model(ScanKind::gated_delta), {}, kMixedBatch);
  for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
    for (const OpKind kind : {OpKind::gemm, OpKind::attention_gemm}) {
      EXPECT_DOUBLE_EQ(
          flops_of(job, Block::mamba_layer, pass, kind),
          flops_of(job, Block::mamba, pass, kind) + flops_of(job, Block::mlp, pass, kind));
    }
  }
  EXPECT_EQ(job.model.layer_parameters(Block::mamba_layer),
            job.model.layer_parameters(Block::mamba) + job.model.layer_parameters(Block::mlp));
}

// A pattern of whole layers, and the same layers written as halves, are the same model.
TEST(OpMixers, PatternsOfWholeLayersAreThoseOfHalves) {
  TransformerSpec whole = mixed_model(ScanKind::gated_delta);
  TransformerSpec halves = whole;
  halves.pattern = "M-M-M-*-";
  halves.layers = 8;
  EXPECT_EQ(whole.parameters(), halves.parameters());
  EXPECT_DOUBLE_EQ(model_flops(whole, 1, 4096), model_flops(halves, 1, 4096));
}

TEST(OpMixers, AGateOfAttentionIsAMatrixOfTheWidthOfItsOutput) {
  TransformerSpec model = llama3(4, 2048, 16, 512);
  model.head_width = 256;
  const double plain = model.attention_parameters();
  const double kept = layer_activations(test_job(model, {}, kMixedBatch)).kept;
  model.attention_gate = true;
  EXPECT_EQ(model.attention_parameters() - plain, 2048.0 * 4096);
  const Job job = test_job(model, {}, kMixedBatch);
  EXPECT_DOUBLE_EQ(flops_of(job, Block::attention, Pass::forward, OpKind::gemm),
                   2 * 4096 * model.attention_parameters());
  // Kept in addition are the gate, and attention's output before the multiplication.
  EXPECT_DOUBLE_EQ(layer_activations(job).kept - kept, 2 * 2 * 4096.0 * 4096);
}

// The indexer has matrices for queries (from the compressed ones), for one key, and for a weight
// per head (arXiv 2512.02556, section 2.1).
TEST(OpMixers, AnIndexerHasThreeMatricesAndANorm) {
  const TransformerSpec model = choosing_model();
  EXPECT_EQ(model.attention_parameters() - deepseek_v3().attention_parameters(),
            1536.0 * 64 * 128 + 7168 * 128 + 2 * 128 + 7168 * 64);
}

TEST(OpMixers, ChosenKeysAreReadAsLatentVectors) {
  Job job = test_job(choosing_model(), {}, {.global = 4, .micro = 1, .sequence = 32768});
  const double tokens = 32768;
  const double seen = 2048 - 2048.0 * 2048 / (2 * tokens);  // mean of min(2048, earlier keys)
  const std::vector<Op> ops = block_ops(job, Block::layer, Pass::forward);
  EXPECT_DOUBLE_EQ(op_named(ops, "attention").flops, 2 * 128 * tokens * seen * (576 + 512));
  EXPECT_DOUBLE_EQ(op_named(ops, "indexer scores").flops, 2 * 64 * 128 * tokens * tokens / 2);
  // A sequence of at most 2,048 tokens reads all keys.
  job.batch.sequence = 2048;
  const Job dense = test_job(deepseek_v3(), {}, job.batch);
  EXPECT_EQ(op_named(block_ops(job, Block::layer, Pass::forward), "attention").flops,
            op_named(block_ops(dense, Block::layer, Pass::forward), "attention").flops);
}

// At eight times the length attention takes eight times as long.
TEST(OpMixers, AttentionToChosenKeysGrowsWithTheLengthAlone) {
  const auto attention = [](int sequence) {
    const Job job = test_job(choosing_model(), {}, {.global = 1, .micro = 1, .sequence = sequence});
    return op_named(block_ops(job, Block::layer, Pass::backward_input), "attention").flops;
  };
  EXPECT_NEAR(attention(1 << 19) / attention(1 << 16), 8, 0.15);
}

TEST(OpMixers, AnIndexerIsWholeOnEveryTensorRank) {
  Job job = test_job(choosing_model(), {}, {.global = 1, .micro = 1, .sequence = 32768});
  const auto scores = [&] {
    return op_named(block_ops(job, Block::layer, Pass::forward), "indexer scores").flops;
  };
  const double whole = scores();
  job.layout.tp = 8;
  EXPECT_EQ(scores(), whole);
  const double parameters = layer_parameters_per_gpu(job.model, job.layout, Block::layer).dense;
  TransformerSpec plain = job.model;
  plain.sparse = {};
  EXPECT_DOUBLE_EQ(parameters - layer_parameters_per_gpu(plain, job.layout, Block::layer).dense,
                   job.model.indexer_parameters());
}

TEST(OpMixers, TensorsOfAllOfThemAddUp) {
  TransformerSpec choosing = choosing_model();
  choosing.mtp_layers = 2;
  TransformerSpec gated = mixed_model(ScanKind::kimi_delta, 32);
  gated.attention_gate = true;
  gated.mtp_layers = 1;
  for (const TransformerSpec& model : {choosing, gated, mixed_model(ScanKind::gated_delta),
                                       mixed_model(ScanKind::lightning, 32)}) {
    double sum = 0;
    for (const TensorRule& rule : tensor_rules(model)) sum += rule.parameters();
    EXPECT_NEAR(sum / model.parameters(), 1, 1e-12) << model.name;
  }
}

// scan.share was fitted on Mamba-2's kernels only. Lightning Attention has no convolution whose
// output would be recomputed.
TEST(OpMixers, WhatIsOfMamba2AloneIsOfItAlone) {
  for (const ScanKind kind :
       {ScanKind::mamba2, ScanKind::gated_delta, ScanKind::kimi_delta, ScanKind::lightning}) {
    const int groups = kind == ScanKind::kimi_delta || kind == ScanKind::lightning ? 32 : 16;
    const Job job = test_job(mixed_model(kind, groups), {}, kMixedBatch);
    const std::vector<Op> ops = block_ops(job, Block::mamba, Pass::forward);
    EXPECT_EQ(std::ranges::any_of(ops, &Op::scan), kind == ScanKind::mamba2);
  }
  const Job job = test_job(mixed_model(ScanKind::lightning, 32), {}, kMixedBatch);
  const MambaMixer& mixer = job.model.mamba;
  const double states = 4096. / mixer.chunk_tokens() * mixer.inner() * mixer.state;
  EXPECT_DOUBLE_EQ(mamba_workspace_bytes(job, 4096), 2 * 4 * states);
}

}  // namespace
}  // namespace windtunnel
