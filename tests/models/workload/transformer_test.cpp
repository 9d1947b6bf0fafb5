#include "models/workload/transformer.hpp"

#include <gtest/gtest.h>

#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

// Narayanan et al. 2021 (arXiv 2104.04473), eq. 2; it leaves out the final norm.
TEST(Transformer, GptParametersFollowTheEquationOfSc21) {
  const TransformerSpec gpt = gpt3_175b();
  const double l = gpt.layers, h = gpt.hidden, v = gpt.vocabulary, s = gpt.sequence;
  const double equation = 12 * l * h * h * (1 + 13 / (12 * h) + (v + s) / (12 * l * h));
  EXPECT_DOUBLE_EQ(gpt.parameters() - 2 * h, equation);
}

// Sums of the tensors in the published checkpoints.
TEST(Transformer, LlamaParametersAreThoseOfTheCheckpoints) {
  EXPECT_EQ(llama3_8b().parameters(), 8030261248.0);
  EXPECT_EQ(llama3(80, 8192, 64, 28672).parameters(), 70553706496.0);
  EXPECT_EQ(llama3_405b().parameters(), 405853388800.0);
}

// Eq. 3 of the same paper, without its recomputation, is 72 B s l h^2 (1 + s/6h + V/12lh).
TEST(Transformer, GptFlopsFollowTheEquationOfSc21) {
  const TransformerSpec gpt = gpt3_175b();
  const double l = gpt.layers, h = gpt.hidden, v = gpt.vocabulary, s = 2048, batch = 1536;
  const double equation = 72 * batch * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h));
  EXPECT_NEAR(model_flops(gpt, batch, 2048) / equation, 1, 1e-12);
}

TEST(Transformer, LlamaFlopsAreSixPerMatrixWeightPlusFullAttention) {
  const TransformerSpec llama = llama3_8b();
  const double embedding = 128256.0 * 4096, norms = 65.0 * 4096;
  const double matrices = llama.parameters() - embedding - norms;
  const double attention = 12.0 * 32 * 8192 * 4096;
  EXPECT_NEAR(model_flops(llama, 1, 8192) / (8192 * (6 * matrices + attention)), 1, 1e-12);
}

TEST(Transformer, CausalAttentionInHalfIsHalfOfIt) {
  TransformerSpec model = llama3_8b();
  const auto half = [&](int sequence) {
    return model_flops(model, 1, sequence, AttentionCount::causal);
  };
  const double attention = 12.0 * 32 * 8192 * 4096 * 8192;
  EXPECT_NEAR((model_flops(model, 1, 8192) - half(8192)) / (attention / 2), 1, 1e-9);
  EXPECT_GT(model_flops(model, 1, 1 << 20) / half(1 << 20), 1.9);  // attention is nearly all
  model.bidirectional = true;
  EXPECT_EQ(half(8192), model_flops(model, 1, 8192));
}

// In Mistral 7B the first 4,096 of 8,192 tokens see all earlier tokens, the others see 4,096.
TEST(Transformer, AWindowHidesWhatIsBehindIt) {
  TransformerSpec model = llama3_8b();
  const double whole = model_flops(model, 1, 8192);
  model.window = 4096;
  EXPECT_DOUBLE_EQ(windowed_keys(model, 0, 8192), (4096 / 2 + 4096) / 2.0);
  EXPECT_DOUBLE_EQ(windowed_keys(model, 0, 2048), 1024);
  EXPECT_DOUBLE_EQ(windowed_keys(model, 6000, 8192), 4096);
  EXPECT_DOUBLE_EQ(attended_keys(model, 8192), 6144);  // twice those seen, by convention
  EXPECT_NEAR(whole - model_flops(model, 1, 8192), 12.0 * 32 * 4096 * 2048 * 8192, 1e3);
  EXPECT_DOUBLE_EQ(attended_keys(model, 4096), 4096);
  model.global_every = 4;
  EXPECT_DOUBLE_EQ(attended_keys(model, 8192), (8192 + 3 * 6144) / 4.0);
  model.attention = AttentionKernel::unfused;
  EXPECT_DOUBLE_EQ(attended_keys(model, 8192), 8192);  // masked, but computed
  model.attention = AttentionKernel::flash;
  model.bidirectional = true;
  model.global_every = 0;
  EXPECT_DOUBLE_EQ(attended_keys(model, 8192), 4096);
}

TEST(Transformer, ATokenMeetsItsOwnExperts) {
  TransformerSpec model = llama3_8b();
  EXPECT_EQ(model.active_parameters(), model.parameters());
  model.moe = {.experts = 8, .per_token = 2, .ffn_hidden = 1024, .dense_layers = 2};
  EXPECT_DOUBLE_EQ(model.parameters() - model.active_parameters(), 30.0 * 6 * 3 * 4096 * 1024);
}

TEST(Transformer, ModulationIsAMatrixForEachVector) {
  TransformerSpec model = llama3_8b();
  const double plain = model.parameters();
  model.modulation = 6;
  EXPECT_DOUBLE_EQ(model.parameters() - plain, 32.0 * 6 * 4096 * 4096);
}

}  // namespace
}  // namespace windtunnel
