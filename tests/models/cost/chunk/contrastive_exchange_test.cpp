#include "models/cost/chunk/contrastive_exchange.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "models/cost/chunk/activations.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "models/network/groups/group_shape.hpp"
#include "models/plan/job_collective.hpp"
#include "models/workload/training.hpp"
#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

// The model is close to CLIP's ViT-L/14: 24 layers of 1,024 over 257 patches, embeddings of 768.
Job contrastive(ContrastiveForm form, int replicas, int batch, int micro = 128) {
  TransformerSpec model;
  model.layers = 24;
  model.hidden = 1024;
  model.heads = model.kv_heads = 16;
  model.ffn_hidden = 4096;
  model.vocabulary = 1000;
  model.sequence = 257;
  Job job = test_job(model, {.dp = replicas},
                     {.global = batch, .micro = micro, .sequence = model.sequence});
  Training training;
  training.loss = {.kind = LossKind::contrastive, .form = form, .tile = 256, .width = 768};
  job.training = std::make_shared<const Training>(training);
  return job;
}

constexpr double kWidth = 4 * 768;  // bytes of an embedding

double loss_bytes(ContrastiveForm form, int replicas, double batch) {
  return head_activations(contrastive(form, replicas, static_cast<int>(batch))).transient;
}

// By hand, the loss keeps two matrices of similarities and their softmax in fp32, the embeddings of
// all samples, and a rank's own embeddings with their gradients.
TEST(ContrastiveExchange, WholeSimilaritiesGrowWithTheSquare) {
  const double own = 8192, all = 65536;
  EXPECT_EQ(loss_bytes(ContrastiveForm::whole, 8, all),
            4 * 4 * own * all + 2 * all * kWidth + 4 * own * kWidth);
}

// Memory in tiles still grows with the batch; in a ring it grows only with a rank's own samples.
TEST(ContrastiveExchange, TilesGrowWithTheBatch) {
  const auto growth = [](ContrastiveForm form, int replicas) {
    const double tiles = 2 * 4 * 256 * 256;
    return (loss_bytes(form, replicas, 131072) - tiles) /
           (loss_bytes(form, replicas, 65536) - tiles);
  };
  EXPECT_NEAR(growth(ContrastiveForm::whole, 8), 4, 0.2);
  EXPECT_EQ(growth(ContrastiveForm::tiled, 8), 2);
  EXPECT_EQ(growth(ContrastiveForm::ring, 8), 2);
  EXPECT_LT(loss_bytes(ContrastiveForm::ring, 32, 65536),
            loss_bytes(ContrastiveForm::ring, 8, 65536) / 3.9);
}

// Checks what all replicas send in a step, divided by the number of micro-batches.
TEST(ContrastiveExchange, EmbeddingsAreGatheredOnce) {
  const Job job = contrastive(ContrastiveForm::whole, 8, 8192);
  const BlockSetting setting(job, {});
  BlockCost head;
  add_contrastive_exchange(setting, head);
  const std::vector<std::int32_t> ranks = {0, 1, 2, 3, 4, 5, 6, 7};
  const double bytes = 2 * 8192 * kWidth;
  const double gathered_s = collective_cost(job, Category::dp, CollectiveKind::all_gather,
                                            group_shape(ranks, job.cluster), bytes)
                                .seconds;
  const double microbatches = 8192.0 / 8 / 128;
  EXPECT_NEAR(total_seconds(head.forward), gathered_s / microbatches, 1e-12);
  EXPECT_GT(total_seconds(head.backward_input), 0);
}

TEST(ContrastiveExchange, ARingHidesBesideItsProducts) {
  const Job job = contrastive(ContrastiveForm::ring, 8, 65536);
  const BlockSetting setting(job, {});
  BlockCost alone;
  add_contrastive_exchange(setting, alone);
  BlockCost beside;
  add_cost(beside.forward, Category::forward, Origin::assumed, 1);
  add_cost(beside.backward_input, Category::backward, Origin::assumed, 1);
  add_contrastive_exchange(setting, beside);
  EXPECT_GT(total_seconds(alone.forward), 0);
  EXPECT_EQ(total_seconds(beside.forward), 1);
  EXPECT_EQ(total_seconds(beside.backward_input), 1);
}

// Each micro-batch is embedded once for the loss over all samples, and again for its backward pass.
TEST(ContrastiveExchange, AccumulatedBatchesAreEmbeddedTwice) {
  const auto recompute_s = [](int batch) {
    return total_seconds(
        chunk_costs(contrastive(ContrastiveForm::ring, 8, batch)).front().recompute);
  };
  EXPECT_EQ(recompute_s(8 * 128), 0);
  const auto chunk = chunk_costs(contrastive(ContrastiveForm::ring, 8, 8 * 512)).front();
  EXPECT_GT(total_seconds(chunk.recompute), 0.9 * total_seconds(chunk.forward));
}

// Tiles compute the similarities again in the backward pass, and never write them to memory.
TEST(ContrastiveExchange, TilesMultiplyAgain) {
  const auto flops = [](ContrastiveForm form) {
    return chunk_costs(contrastive(form, 8, 65536)).front().hardware_flops;
  };
  const double product = 2 * 2 * 128 * 65536.0 * 768;
  EXPECT_NEAR(flops(ContrastiveForm::tiled) - flops(ContrastiveForm::whole), product,
              1e-6 * product);
}

}  // namespace
}  // namespace windtunnel
