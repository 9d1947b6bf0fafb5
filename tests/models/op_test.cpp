#include "models/op.hpp"

#include <gtest/gtest.h>

#include "tests/models/cost_fixtures.hpp"

namespace windtunnel::testing {
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

// Unfused attention computes the whole square: all passes together are model_flops().
TEST(Op, AllPassesOfAnUnfusedModelSumToModelFlops) {
  TransformerSpec gpt = gpt3_175b();
  gpt.attention = AttentionKernel::unfused;
  double sum = 0;
  for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
    sum += gpt.layers * flops(layer_ops(gpt, {}, pass), OpKind::gemm);
    sum += gpt.layers * flops(layer_ops(gpt, {}, pass), OpKind::attention_gemm);
    sum += flops(block_ops(test_job(gpt, {}, kBatch), Block::head, pass), OpKind::gemm);
  }
  EXPECT_NEAR(sum / model_flops(gpt, kBatch.micro, kBatch.sequence), 1, 1e-12);
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
  // Reads gate and up, writes the product: 3 x 2 B per element.
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

  gpt.attention = AttentionKernel::unfused;  // the scores come back: one of the two products
  EXPECT_EQ(flops(recomputed(Recompute::selective), OpKind::gemm), 0);
  EXPECT_EQ(flops(recomputed(Recompute::selective), OpKind::attention_gemm),
            2.0 * kBatch.micro * 2048 * 2048 * 12288);
}

}  // namespace
}  // namespace windtunnel::testing
