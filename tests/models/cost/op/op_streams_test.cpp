// Blocks of diffusion transformers, computed by hand.
#include <gtest/gtest.h>

#include "models/cost/op/op.hpp"
#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

const Batch kOneImage{.global = 1, .micro = 1, .sequence = 1280};

TransformerSpec diffusion_model(std::string pattern) {
  TransformerSpec model;
  model.name = "diffusion";
  model.layers = static_cast<int>(pattern.size());
  model.pattern = std::move(pattern);
  model.hidden = 256;
  model.heads = model.kv_heads = 4;
  model.ffn_hidden = 1024;
  model.vocabulary = 128;
  model.sequence = 1280;
  model.bidirectional = true;
  model.modulation = 6;
  model.text_tokens = 256;
  return model;
}

double stream_flops(const Job& job, Block block, Pass pass) {
  double sum = 0;
  for (const Op& op : block_ops(job, block, pass)) {
    sum += op.kind == OpKind::gemm && op.name != "modulation" ? op.flops : 0;
  }
  return sum;
}

constexpr double kStreamWeights = 12 * 256.0 * 256;  // a stream's q k v, projection and MLP

TEST(OpStreams, TwoStreamsHaveTwiceTheWeightsAndTheSameProducts) {
  const Job job = test_job(diffusion_model("D"), {}, kOneImage);
  for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
    EXPECT_DOUBLE_EQ(stream_flops(job, Block::double_stream, pass), 2 * 1280 * kStreamWeights);
  }
  TransformerSpec model = job.model;
  model.biases = false;
  EXPECT_DOUBLE_EQ(model.layer_parameters(Block::double_stream),
                   2 * kStreamWeights + 12 * 256.0 * 256 + 4 * 2 * 256);
}

TEST(OpStreams, NothingReadsTheTextOfTheLastBlock) {
  const Job job = test_job(diffusion_model("d"), {}, kOneImage);
  const double unread = 9 * 256.0 * 256;  // projection and MLP
  EXPECT_DOUBLE_EQ(stream_flops(job, Block::last_double_stream, Pass::forward),
                   2 * (1280 * kStreamWeights - 256 * unread));
  const double flops = layer_flops(job.model, 1280, Block::last_double_stream).products;
  EXPECT_NEAR(flops - 2 * 8 * 256.0 * 256 / 1280, 2 * (kStreamWeights - 256.0 / 1280 * unread),
              1e-6);
}

TEST(OpStreams, AttentionSeesTextAndImage) {
  const Job job = test_job(diffusion_model("DS"), {}, kOneImage);
  for (const Block block : {Block::double_stream, Block::single_stream}) {
    const Op attention = op_named(block_ops(job, block, Pass::forward), "attention");
    EXPECT_EQ(attention.n, 1280);
    EXPECT_DOUBLE_EQ(attention.flops, 2 * 2 * 1280.0 * 1280 * 256);
  }
}

TEST(OpStreams, OneStreamHasTwoProductsAndOneNorm) {
  const Job job = test_job(diffusion_model("S"), {}, kOneImage);
  EXPECT_DOUBLE_EQ(stream_flops(job, Block::single_stream, Pass::forward),
                   2 * 1280 * kStreamWeights);
  int norms = 0;
  int products = 0;
  for (const Op& op : block_ops(job, Block::single_stream, Pass::forward)) {
    norms += op.name == "norm 1" || op.name == "norm 2" ? 1 : 0;
    products += op.kind == OpKind::gemm ? 1 : 0;
  }
  EXPECT_EQ(norms, 1);
  EXPECT_EQ(products, 3);  // including the modulation's
}

// With one row per sequence the time is that of reading the matrix.
TEST(OpStreams, ModulationIsAMatrixOverOneRowASequence) {
  const Job job = test_job(diffusion_model("DS"), {}, kOneImage);
  const Op two = op_named(block_ops(job, Block::double_stream, Pass::forward), "modulation");
  const Op one = op_named(block_ops(job, Block::single_stream, Pass::forward), "modulation");
  EXPECT_DOUBLE_EQ(two.flops, 2 * 12 * 256.0 * 256);
  EXPECT_DOUBLE_EQ(one.flops, 2 * 3 * 256.0 * 256);
  EXPECT_GT(two.bytes, 2 * 12 * 256.0 * 256);
}

}  // namespace
}  // namespace windtunnel
