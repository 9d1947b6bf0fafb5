#include "models/cost/op/element_wise.hpp"

#include <gtest/gtest.h>

#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

const Batch kTwoSequences{.global = 2, .micro = 2, .sequence = 2048};

Job fused_job(Fusion fusion, bool separate) {
  Job job = test_job(llama3_8b(), {}, kTwoSequences);
  job.software.fusion = fusion;
  job.model.separate_projections = separate;
  return job;
}

double element_wise_bytes(const Job& job) {
  double sum = 0;
  for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
    for (const Op& op : block_ops(job, Block::layer, pass)) {
      sum += op.kind == OpKind::memory ? op.bytes : 0;
    }
  }
  return sum;
}

TEST(ElementWise, OneKernelPerOperationMovesMostAndACompilerLeast) {
  EXPECT_GT(element_wise_bytes(fused_job(Fusion::none, true)),
            1.5 * element_wise_bytes(fused_job(Fusion::compiled, true)));
  EXPECT_LT(element_wise_bytes(fused_job(Fusion::compiled, false)),
            element_wise_bytes(fused_job(Fusion::partial, false)) +
                2 * 2 * 2.0 * 4096 * 4096);  // the norms' own gradients
}

TEST(ElementWise, SwigluByItsOperations) {
  const double width = 1000, rows = 10;
  for (const bool separate : {false, true}) {
    const Job job = fused_job(Fusion::none, separate);
    const Shard s = shard_of(job);
    const Op forward = activation_op("swiglu", Pass::forward, job.model, rows, width, s);
    const Op back = activation_op("swiglu", Pass::backward_input, job.model, rows, width, s);
    EXPECT_EQ(forward.bytes, 2 * rows * width * 5);
    EXPECT_EQ(forward.starts, 2);
    EXPECT_EQ(back.bytes, 2 * rows * width * (separate ? 9 : 13));
    EXPECT_EQ(back.starts, separate ? 3 : 4);
  }
  const Job fused = fused_job(Fusion::partial, true);
  const Op op =
      activation_op("swiglu", Pass::backward_input, fused.model, rows, width, shard_of(fused));
  EXPECT_EQ(op.bytes, 2 * rows * width * 5);
  EXPECT_EQ(op.starts, 1);
}

// Clamping an activation takes a kernel for each half, which is strided, and one that joins them;
// backward each of these also reads a gradient.
TEST(ElementWise, BoundsOfAnActivationAreKernelsOfTheirOwn) {
  const double width = 1000, rows = 10;
  const auto further = [&](Fusion fusion, Pass pass) {
    Job job = fused_job(fusion, false);
    const auto op = [&] {
      return activation_op("swiglu", pass, job.model, rows, width, shard_of(job));
    };
    const Op free = op();
    job.model.clamped_activation = true;
    EXPECT_EQ(op().starts, free.starts + (fusion == Fusion::compiled ? 0 : 3));
    return (op().bytes - free.bytes) / (2 * rows * width);
  };
  for (const Fusion fusion : {Fusion::none, Fusion::partial}) {
    EXPECT_DOUBLE_EQ(further(fusion, Pass::forward), 1.5 * 4 + 4);
    EXPECT_DOUBLE_EQ(further(fusion, Pass::backward_input), 1.5 * 6 + 4);
  }
  EXPECT_EQ(further(Fusion::compiled, Pass::forward), 0);
}

TEST(ElementWise, AnActivationWithoutAGateHasNoBounds) {
  for (const Pass pass : {Pass::forward, Pass::backward_input}) {
    Job job = fused_job(Fusion::none, false);
    job.model.activation = Activation::gelu;
    const auto op = [&] { return activation_op("gelu", pass, job.model, 10, 1000, shard_of(job)); };
    const Op free = op();
    job.model.clamped_activation = true;
    EXPECT_EQ(op().starts, free.starts);
    EXPECT_EQ(op().bytes, free.bytes);
  }
}

TEST(ElementWise, SeparateProductsOfOneInputSumTheirGradients) {
  const auto sums = [](Fusion fusion, bool separate, Activation activation = Activation::swiglu) {
    double kernels = 0;
    Job job = fused_job(fusion, separate);
    job.model.activation = activation;
    for (const Op& op : block_ops(job, Block::layer, Pass::backward_input)) {
      if (op.name != "gradient sum") continue;
      EXPECT_EQ(op.launches, 0);
      kernels += op.starts;
    }
    return kernels;
  };
  EXPECT_EQ(sums(Fusion::none, true), 3);  // of queries, keys and values two, of SwiGLU one
  EXPECT_EQ(sums(Fusion::none, true, Activation::gelu), 2);  // its MLP has one product
  EXPECT_EQ(sums(Fusion::none, false), 0);
  EXPECT_EQ(sums(Fusion::compiled, true), 2);
  EXPECT_EQ(sums(Fusion::partial, true), 0);  // one fused product each
}

TEST(ElementWise, RotaryPositionsCostWhatTheSoftwareSays) {
  Job job = fused_job(Fusion::none, true);
  job.software.rotary_bytes = 75;
  const Shard s = shard_of(job);
  EXPECT_EQ(rotary_op(s).bytes, 75 * s.tokens * (s.q + s.k));
  job.software.rotary_bytes = 0;
  EXPECT_EQ(rotary_op(shard_of(job)).bytes, 2 * s.e * s.tokens * (s.q + s.k));
  EXPECT_EQ(rotary_op(shard_of(fused_job(Fusion::compiled, true))).bytes,
            2 * s.e * s.tokens * (s.q + s.k));
}

// Transformer Engine's kernel rotates but does not scale; a compiler fuses both.
TEST(ElementWise, ScaledRotaryPositionsHaveNoKernelOfTheirOwn) {
  for (const Fusion fusion : {Fusion::partial, Fusion::compiled}) {
    Job job = fused_job(fusion, false);
    job.software.rotary_bytes = 35;
    const Shard plain = shard_of(job);
    EXPECT_EQ(rotary_op(plain).bytes, 2 * plain.e * plain.tokens * (plain.q + plain.k));
    job.model.scaled_rotary = true;
    const Shard scaled = shard_of(job);
    const double each = fusion == Fusion::partial ? 35 : 2 * scaled.e;
    EXPECT_EQ(rotary_op(scaled).bytes, each * scaled.tokens * (scaled.q + scaled.k));
  }
}

TEST(ElementWise, LatentAttentionHasTheKernelsOfItsSoftware) {
  const auto kernels = [](Fusion fusion) {
    Job job = test_job(deepseek_v3(), {}, kTwoSequences);
    job.software.fusion = fusion;
    job.software.rotary_bytes = 75;
    double starts = 0;
    double bytes = 0;
    for (const Op& op : block_ops(job, Block::layer, Pass::backward_input)) {
      const bool own = op.name == "rotary" || op.name == "keys and values" || op.name == "q norm" ||
                       op.name == "kv norm";
      starts += own ? op.starts : 0;
      bytes += own ? op.bytes : 0;
    }
    return std::pair{starts, bytes};
  };
  EXPECT_EQ(kernels(Fusion::partial).first, 3);  // two norms and the rotary embedding
  EXPECT_GT(kernels(Fusion::none).first, kernels(Fusion::partial).first);
  EXPECT_GT(kernels(Fusion::none).second, kernels(Fusion::partial).second);
}

TEST(ElementWise, RepeatedKeysAreOfGroupedQueriesOnly) {
  const auto repeats = [](int kv_heads) {
    Job job = fused_job(Fusion::none, true);
    job.software.repeated_keys = true;
    job.model.kv_heads = kv_heads;
    int found = 0;
    for (const Op& op : block_ops(job, Block::layer, Pass::forward)) {
      found += op.name == "repeated keys" ? 1 : 0;
    }
    return found;
  };
  EXPECT_EQ(repeats(8), 1);
  EXPECT_EQ(repeats(32), 0);
}

}  // namespace
}  // namespace windtunnel
