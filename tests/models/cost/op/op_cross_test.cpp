// Layers of an encoder and its decoder, and projected keys (Linformer), computed by hand.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "models/cost/chunk/activations.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/cost/op/op.hpp"
#include "models/workload/stage_parameters.hpp"
#include "models/workload/training.hpp"
#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

constexpr double kSquare = 256.0 * 256;
constexpr double kSource = 256;
constexpr double kTarget = 1024;
const Batch kOneSequence{.global = 1, .micro = 1, .sequence = 1280};

TransformerSpec two_stacks(AttentionKernel attention = AttentionKernel::flash) {
  TransformerSpec model;
  model.name = "translator";
  model.pattern = "BBCCC";
  model.layers = 5;
  model.hidden = 256;
  model.heads = model.kv_heads = 4;
  model.ffn_hidden = 1024;
  model.vocabulary = 128;
  model.sequence = 1280;
  model.source_tokens = 256;
  model.position = PositionEncoding::none;
  model.biases = false;
  model.attention = attention;
  return model;
}

double product_flops(const Job& job, Block block, Pass pass) {
  double sum = 0;
  for (const Op& op : block_ops(job, block, pass)) {
    sum += op.kind == OpKind::gemm ? op.flops : 0;
  }
  return sum;
}

// In squares of the hidden width the MLP has eight, and each attention four. Two of the four of the
// decoder's cross-attention run over the source's tokens.
TEST(TwoStacks, HaveTheProductsOfTheirOwnTokens) {
  const Job job = test_job(two_stacks(), {}, kOneSequence);
  for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
    EXPECT_DOUBLE_EQ(product_flops(job, Block::encoder_layer, pass), 2 * kSource * 12 * kSquare);
    EXPECT_DOUBLE_EQ(product_flops(job, Block::decoder_layer, pass),
                     2 * (kTarget * (12 + 2) + kSource * 2) * kSquare);
    EXPECT_DOUBLE_EQ(product_flops(job, Block::head, pass), 2 * kTarget * 256 * 128);
  }
  EXPECT_DOUBLE_EQ(job.model.layer_parameters(Block::encoder_layer), 12 * kSquare + 2 * 512);
  EXPECT_DOUBLE_EQ(job.model.layer_parameters(Block::decoder_layer), 16 * kSquare + 3 * 512);
}

TEST(TwoStacks, AttendToTheirOwnTokensAndTheDecoderToTheSource) {
  const Job job = test_job(two_stacks(), {}, kOneSequence);
  const auto attention = [&](Block block) {
    std::vector<Op> found;
    for (const Op& op : block_ops(job, block, Pass::forward)) {
      if (op.kind == OpKind::attention_forward) found.push_back(op);
    }
    return found;
  };
  const std::vector<Op> encoder = attention(Block::encoder_layer);
  ASSERT_EQ(encoder.size(), 1u);
  EXPECT_FALSE(encoder[0].causal);
  EXPECT_DOUBLE_EQ(encoder[0].flops, 2 * 2 * kSource * kSource * 256);
  const std::vector<Op> decoder = attention(Block::decoder_layer);
  ASSERT_EQ(decoder.size(), 2u);
  EXPECT_TRUE(decoder[0].causal);
  EXPECT_DOUBLE_EQ(decoder[0].flops, 2 * kTarget * kTarget * 256);
  EXPECT_FALSE(decoder[1].causal);
  EXPECT_DOUBLE_EQ(decoder[1].flops, 2 * 2 * kTarget * kSource * 256);
}

// The kernels' FLOPs of products and scores over all layers equal those of the convention.
TEST(TwoStacks, DoTheOperationsOfTheConvention) {
  const Job job = test_job(two_stacks(AttentionKernel::unfused), {}, kOneSequence);
  double flops = 0;
  for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
    const auto of = [&](Block block) {
      double sum = 0;
      for (const Op& op : block_ops(job, block, pass)) sum += op.flops;
      return sum;
    };
    flops += 2 * of(Block::encoder_layer) + 3 * of(Block::decoder_layer) + of(Block::head);
  }
  EXPECT_NEAR(flops / model_flops(job.model, 1, 1280), 1, 1e-12);
}

// A layer of the encoder costs what a layer of an encoder-only model costs whose sequence is as
// long as the source.
TEST(TwoStacks, AnEncoderOfAFifthOfTheTokensIsAnEncoderOfThatLength) {
  TransformerSpec alone = two_stacks();
  alone.pattern.clear();
  alone.source_tokens = 0;
  alone.bidirectional = true;
  const Job encoder = test_job(alone, {}, {.global = 1, .micro = 1, .sequence = 256});
  const Job job = test_job(two_stacks(), {}, kOneSequence);
  for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
    const std::vector<Op> own = block_ops(job, Block::encoder_layer, pass);
    const std::vector<Op> expected = block_ops(encoder, Block::layer, pass);
    ASSERT_EQ(own.size(), expected.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      EXPECT_DOUBLE_EQ(own[i].flops, expected[i].flops) << own[i].name;
      EXPECT_DOUBLE_EQ(own[i].bytes, expected[i].bytes) << own[i].name;
    }
  }
  EXPECT_DOUBLE_EQ(layer_activations(job, Block::encoder_layer, {}).kept,
                   layer_activations(encoder, Block::layer, {}).kept);
}

// Kept in 16 bits are three norms with their inputs, queries, keys, values and outputs of both
// attentions, and the MLP's two tensors of four widths; the statistics of four heads are in fp32.
TEST(TwoStacks, ADecodersLayerKeepsBothAttentions) {
  const Job job = test_job(two_stacks(), {}, kOneSequence);
  const double own = kTarget * 256 * (2 * 3 + 3 + 1 + 1 + 1 + 2 * 4);
  const double source = kSource * 256 * 2;
  EXPECT_DOUBLE_EQ(layer_activations(job, Block::decoder_layer, {}).kept,
                   2 * (own + source) + 2 * 4 * 4 * kTarget);
}

// Kept are queries of both attentions, own values and those of the source, both outputs with fp32
// statistics, the MLP's first product, and input and output of the layer.
TEST(TwoStacks, EveryOtherProductOfBothAttentionsIsKept) {
  Job job = test_job(two_stacks(), {}, kOneSequence, Precision::bf16, Recompute::selective);
  job.recompute = Recompute::of(RecomputeModule::matmuls);
  const double own = kTarget * 256 * (2 + 1 + 2 + 4 + 2);
  EXPECT_DOUBLE_EQ(layer_activations(job, Block::decoder_layer, {}).kept,
                   2 * (own + kSource * 256) + 2 * 4 * 4 * kTarget);
  double again = 0;
  for (const Op& op : recomputed_ops(job, Block::decoder_layer)) {
    again += op.kind == OpKind::gemm ? op.flops : 0;
  }
  EXPECT_DOUBLE_EQ(again, 2 * (3 * kTarget + kSource) * kSquare);  // keys and output projections
}

// Queries, keys, values and output of both attentions and the MLP's two products have biases; those
// of the cross-attention's keys and values sum gradients over the source's tokens.
TEST(TwoStacks, BiasesHaveGradientsOfTheirOwnTokens) {
  TransformerSpec model = two_stacks();
  model.biases = true;
  const Job job = test_job(model, {}, kOneSequence);
  const std::vector<Op> ops = block_ops(job, Block::decoder_layer, Pass::backward_weight);
  EXPECT_DOUBLE_EQ(op_named(ops, "bias gradients").bytes,
                   2 * 256 * (kTarget * (4 + 2 + 5) + kSource * 2));
}

// A job that states that everything is trained counts the same FLOPs as one that states nothing:
// the head runs on the decoder's tokens only.
TEST(TwoStacks, TrainedOperationsAreThoseOfTheConvention) {
  Job job = test_job(two_stacks(), {}, kOneSequence);
  const double all = flops_per_step(job);
  job.training = std::make_shared<const Training>();
  EXPECT_NEAR(flops_per_step(job) / all, 1, 1e-12);
}

TransformerSpec linformer(int keys) {
  TransformerSpec model = two_stacks();
  model.pattern.clear();
  model.layers = 2;
  model.source_tokens = 0;
  model.bidirectional = true;
  model.attention = AttentionKernel::unfused;
  model.projected_keys = keys;
  return model;
}

// Wang et al. 2020, equation 7: every token has scores to 64 keys, which two matrices of 64 rows
// make of all keys, whatever the number of heads.
TEST(ProjectedKeys, AreTheOnlyOnesThatQueriesSee) {
  const Job job = test_job(linformer(64), {}, kOneSequence);
  const std::vector<Op> ops = block_ops(job, Block::layer, Pass::forward);
  EXPECT_DOUBLE_EQ(op_named(ops, "scores").flops, 2 * 1280.0 * 64 * 256);
  EXPECT_DOUBLE_EQ(op_named(ops, "key projection").flops, 2 * 64 * 1280.0 * 512);
  EXPECT_DOUBLE_EQ(job.model.layer_parameters(), 12 * kSquare + 2 * 512 + 2 * 64 * 1280.0);
  double flops = 0;
  for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
    for (const Op& op : block_ops(job, Block::layer, pass)) flops += 2 * op.flops;
    for (const Op& op : block_ops(job, Block::head, pass)) flops += op.flops;
  }
  EXPECT_NEAR(flops / model_flops(job.model, 1, 1280), 1, 1e-12);
}

// With projected keys the kept scores grow linearly with the length.
TEST(ProjectedKeys, KeepScoresOfTheKeysThatAreLeft) {
  const auto kept = [](int keys, int sequence) {
    TransformerSpec model = linformer(keys);
    model.sequence = sequence;
    return layer_activations(test_job(model, {}, {.global = 1, .micro = 1, .sequence = sequence}),
                             Block::layer, {})
        .kept;
  };
  const double few = 2.0 * 64 * 2 * 256;  // projected keys and values
  EXPECT_DOUBLE_EQ(kept(64, 2560) - few, 2 * (kept(64, 1280) - few));
  EXPECT_DOUBLE_EQ(kept(0, 1280) - kept(64, 1280) + few, 2 * 4 * 1280.0 * (1280 - 64));
}

// Each rank holds those columns of the projecting matrices that belong to its part of the sequence.
TEST(ProjectedKeys, AreProjectedByTheRankThatHasThem) {
  const Layout two{.cp = 2};
  const double alone = layer_parameters_per_gpu(linformer(64), {}, Block::layer).dense;
  EXPECT_DOUBLE_EQ(alone - layer_parameters_per_gpu(linformer(64), two, Block::layer).dense,
                   64 * 1280.0);
}

}  // namespace
}  // namespace windtunnel
