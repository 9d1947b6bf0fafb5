#include "models/workload/adapter.hpp"

#include <gtest/gtest.h>

#include "models/workload/stage_parameters.hpp"
#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

Adapter lora(int rank) {
  return {.kind = AdapterKind::lora, .rank = rank};
}

// LoRA (arXiv 2106.09685), section 4.2: GPT-3 with rank 4 on queries and values has 18.9 M trained
// parameters (table 4: 37.7 M at rank 8), 35 MB in 16 bit.
TEST(Adapter, Gpt3OnQueriesAndValues) {
  Adapter adapter = lora(4);
  adapter.keys = adapter.projection = adapter.up = adapter.down = false;
  const Training training{.adapter = adapter};
  const ParameterCounts counts = parameter_counts(gpt3_175b(), &training);
  EXPECT_EQ(counts.trained, 96 * 2 * 4 * (12288 + 12288.0));
  EXPECT_EQ(counts.all, gpt3_175b().parameters() + counts.trained);
  EXPECT_NEAR(2 * counts.trained, 35e6, 0.1 * 35e6);
}

// All matrices of Llama 3 8B have adapters of rank 16: q, k, v, o, gate, up, down.
TEST(Adapter, EveryMatrixHasAPair) {
  const double h = 4096, kv = 1024, ffn = 14336;
  const double sides = (h + h) + 2 * (h + kv) + (h + h) + 3 * (h + ffn);
  const AdapterParameters sum = adapter_parameters(llama3_8b(), {}, lora(16), Block::layer);
  EXPECT_EQ(sum.trained, 16 * sides);
  EXPECT_EQ(sum.frozen, 0);
  const AdapterParameters half =
      adapter_parameters(llama3_8b(), {}, {.kind = AdapterKind::lora_fa, .rank = 16}, Block::layer);
  EXPECT_EQ(half.trained + half.frozen, sum.trained);
  EXPECT_EQ(half.frozen, 16 * (4 * h + 2 * h + ffn));
  const AdapterParameters scaled =
      adapter_parameters(llama3_8b(), {}, {.kind = AdapterKind::dora, .rank = 16}, Block::layer);
  EXPECT_EQ(scaled.trained, sum.trained + h + 2 * kv + h + 2 * ffn + h);
}

// tp divides the wide side of an adapter's product; the narrow side is replicated.
TEST(Adapter, TensorParallelismDividesOneFactor) {
  const double h = 4096, kv = 1024, ffn = 14336;
  const AdapterParameters sum = adapter_parameters(llama3_8b(), {.tp = 4}, lora(1), Block::layer);
  EXPECT_EQ(sum.trained,
            (h + h / 4) + 2 * (h + kv / 4) + (h / 4 + h) + 2 * (h + ffn / 4) + (ffn / 4 + h));
}

TEST(Adapter, ExpertsHaveTheirOwn) {
  TransformerSpec model = llama3_8b();
  model.moe = {.experts = 8, .per_token = 2, .ffn_hidden = 2048};
  const AdapterParameters sum = adapter_parameters(model, {.ep = 4}, lora(2), Block::moe_layer);
  EXPECT_EQ(sum.trained_experts, 2 * 2 * 3 * (4096 + 2048.0));
  double dense = 0;
  for (const AdaptedMatrix& matrix :
       adapted_matrices(model, {.ep = 4}, lora(2), Block::moe_layer)) {
    if (!matrix.expert) dense += matrix.first_parameters(2) + matrix.second_parameters(2);
  }
  EXPECT_EQ(sum.trained - sum.trained_experts, dense);
}

// The quantised base keeps matrices of layers in 4 bits, but not embeddings and norms.
TEST(Adapter, AQuantisedBaseCountsByItsBytes) {
  const TransformerSpec model = llama3_8b();
  const Training lora_alone{.adapter = lora(16)};
  const Training quantised{.adapter = {.kind = AdapterKind::qlora, .rank = 16}};
  const TrainedParameters plain = trained_parameters(model, {}, lora_alone, 2).front();
  const TrainedParameters small = trained_parameters(model, {}, quantised, 2).front();
  const double matrices = model.layers * (model.attention_parameters() + model.mlp_parameters());
  EXPECT_EQ(plain.trained, small.trained);
  EXPECT_NEAR(plain.frozen - small.frozen, matrices * (1 - kNf4Bytes / 2), 1e-3);
}

// Matrices of a merged product share a pair of factors: Llama 3 8B has four pairs instead of seven,
// but only if all of these matrices are adapted.
TEST(Adapter, AProductHasOnePair) {
  const double h = 4096, kv = 1024, ffn = 14336;
  Adapter adapter = lora(16);
  adapter.per_product = true;
  EXPECT_EQ(adapted_matrices(llama3_8b(), {}, adapter, Block::layer).size(), 4U);
  EXPECT_EQ(adapter_parameters(llama3_8b(), {}, adapter, Block::layer).trained,
            16 * ((h + h + 2 * kv) + (h + h) + (h + 2 * ffn) + (ffn + h)));
  adapter.keys = false;
  EXPECT_EQ(adapted_matrices(llama3_8b(), {}, adapter, Block::layer).size(), 5U);
  // If the software keeps products separate, each has a pair.
  TransformerSpec model = llama3_8b();
  EXPECT_TRUE(pairs_per_product(model, {}));
  model.separate_projections = true;
  EXPECT_FALSE(pairs_per_product(model, {.fusion = Fusion::none}));
  EXPECT_FALSE(pairs_per_product(llama3_8b(), {.adapter_per_product = false}));
}

}  // namespace
}  // namespace windtunnel
