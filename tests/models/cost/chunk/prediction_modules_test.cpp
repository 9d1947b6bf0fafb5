// Modules that predict further tokens (TransformerSpec::mtp_layers), on a pipeline's last stage.
#include <gtest/gtest.h>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/workload/stage_parameters.hpp"
#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

Job predicting_job(int modules, int pp = 1) {
  TransformerSpec model = deepseek_v3();
  model.layers = 8;
  model.mtp_layers = modules;
  Job job = test_job(model, {.pp = pp, .dp = 16 / pp, .ep = 8}, {64, 1, 4096});
  return job;
}

double forward_s(const ChunkCost& chunk) {
  return total_seconds(chunk.forward);
}

// arXiv 2412.19437, section 2.2: a module has a matrix of twice the width and a usual layer; it
// shares embedding and head with the model.
TEST(PredictionModules, OneIsALayerAndAMatrixOfTwiceTheWidth) {
  const TransformerSpec with = predicting_job(1).model;
  const TransformerSpec without = predicting_job(0).model;
  const double module = with.layer_parameters(Block::moe_layer) + 2.0 * 7168 * 7168 + 3 * 7168;
  EXPECT_EQ(with.parameters() - without.parameters(), module);
  // DeepSeek-V3's module has 11.5 B parameters without embedding and head (deepseek-ai/DeepSeek-V3,
  // README_WEIGHTS.md).
  TransformerSpec whole = deepseek_v3();
  const double main = whole.parameters();
  whole.mtp_layers = 1;
  EXPECT_NEAR((whole.parameters() - main) / 1e9, 11.5, 0.15);
}

TEST(PredictionModules, StandOnTheLastStage) {
  const std::vector<ChunkCost> with = chunk_costs(predicting_job(1, 2));
  const std::vector<ChunkCost> without = chunk_costs(predicting_job(0, 2));
  EXPECT_EQ(forward_s(with[0]), forward_s(without[0]));
  EXPECT_EQ(with[0].parameters, without[0].parameters);
  const LayerParameters layer = layer_parameters_per_gpu(
      predicting_job(1, 2).model, predicting_job(1, 2).layout, Block::moe_layer);
  const double embedding = 129280.0 * 7168;  // a copy on this stage
  EXPECT_NEAR(with[1].parameters - without[1].parameters,
              layer.dense + layer.experts + 2.0 * 7168 * 7168 + 3 * 7168 + embedding, 1);
  EXPECT_EQ(with[1].expert_parameters - without[1].expert_parameters, layer.experts);
}

// A module adds a layer, a second head, and the matrix before the layer.
TEST(PredictionModules, CostALayerAHeadAndTheirMatrix) {
  const ChunkCost none = chunk_costs(predicting_job(0)).front();
  const ChunkCost one = chunk_costs(predicting_job(1)).front();
  const ChunkCost two = chunk_costs(predicting_job(2)).front();
  EXPECT_NEAR(forward_s(two) - forward_s(one), forward_s(one) - forward_s(none),
              1e-9 * forward_s(one));
  const double tokens = 4096;
  const TransformerSpec model = predicting_job(1).model;
  const double executed = 3 * tokens * (2.0 * 7168 * 2 * 7168 + 2.0 * 7168 * 129280) +
                          3 * tokens * layer_flops(model, 4096, Block::moe_layer).sum();
  EXPECT_NEAR((one.hardware_flops - none.hardware_flops) / executed, 1, 0.03);
  EXPECT_GT(one.activation_bytes, none.activation_bytes);
}

// During the backward pass of a module's layer its own loss is freed, but the other losses are
// still in memory.
TEST(PredictionModules, OnlyOneLossMakesRoomForALayer) {
  const auto transient = [](int modules) {
    Job job = predicting_job(modules);
    job.model.vocabulary = 2000;  // the loss is smaller than a layer
    return chunk_costs(job).front().transient_bytes;
  };
  EXPECT_GT(transient(1), 0);
  EXPECT_EQ(transient(2), transient(1));
}

TEST(PredictionModules, CountInTheOperationsOfAStep) {
  const TransformerSpec with = predicting_job(1).model;
  const TransformerSpec without = predicting_job(0).model;
  const double token =
      layer_flops(with, 4096, Block::moe_layer).sum() + 2.0 * 7168 * (2 * 7168 + 129280);
  EXPECT_NEAR(model_flops(with, 1, 4096) - model_flops(without, 1, 4096), 3 * 4096 * token,
              1e-6 * token);
}

}  // namespace
}  // namespace windtunnel
