#include "models/workload/tower.hpp"

#include <gtest/gtest.h>

#include "models/workload/stage_parameters.hpp"
#include "tests/support/towers.hpp"

namespace windtunnel {
namespace {

struct PublishedTower {
  const char* name;
  int layers, hidden, heads, ffn, patch, side;
  double flops;  // a forward pass, with class token and projection or pooling
};

// The column image_gflops of docs/model_profile.csv in github.com/mlfoundations/open_clip,
// 3b37473b, was counted from the kernels that ran, with two operations per multiply-add.
const PublishedTower kPublished[] = {
    {"ViT-L-14-336", 24, 1024, 16, 4096, 14, 336, 381.92e9},
    {"ViT-H-14", 32, 1280, 16, 5120, 14, 224, 334.59e9},
    {"ViT-B-16", 12, 768, 12, 3072, 16, 224, 35.13e9},
    {"ViT-bigG-14", 48, 1664, 16, 8192, 14, 224, 967.5e9},
};

TEST(Tower, HasTheOperationsOfPublishedOnes) {
  for (const PublishedTower& of : kPublished) {
    const int across = of.side / of.patch;
    Tower tower = small_tower();
    tower.layers.layers = of.layers;
    tower.layers.hidden = of.hidden;
    tower.layers.heads = tower.layers.kv_heads = of.heads;
    tower.layers.ffn_hidden = of.ffn;
    tower.layers.sequence = across * across + 1;  // plus the class token
    tower.patch_values = 3.0 * of.patch * of.patch;
    EXPECT_NEAR(tower_flops(tower).stack / of.flops, 1, 0.005) << of.name;
  }
}

// A layer with an MLP of 4 h takes 24 n h^2 + 4 n^2 h (Narayanan et al., SC'21, appendix).
TEST(Tower, HasTheOperationsOfItsFormula) {
  const Tower tower = small_tower();
  const double n = tower.patches();
  const double h = tower.layers.hidden;
  const TowerFlops flops = tower_flops(tower);
  EXPECT_DOUBLE_EQ(flops.attention, 2 * 4 * n * n * h);
  EXPECT_DOUBLE_EQ(flops.stack, 2 * (24 * n * h * h + 4 * n * n * h) + 2 * n * 48 * h);
  EXPECT_DOUBLE_EQ(flops.projector, 2.0 * 16 * (256 * 512 + 512 * 1024));
}

// ZeRO-3 gathers a tower's layers one by one, and its ends with the vocabulary.
TEST(Tower, HasItsEndsInTheUnitThatStaysGathered) {
  TransformerSpec model = small_model();
  const double alone = gathered_parameters(model, Layout{});
  model.tower = std::make_shared<const Tower>(small_tower());
  EXPECT_DOUBLE_EQ(gathered_parameters(model, Layout{}),
                   alone + (48 + 64) * 256 + 256 * 512 + 512 * 1024);
}

TEST(Tower, HasTheParametersOfItsParts) {
  const Tower tower = small_tower();
  const double h = tower.layers.hidden;
  // A layer has matrices of 12 h^2, biases of 9 h and two norms of 2 h.
  EXPECT_DOUBLE_EQ(tower.stack_parameters(), 2 * (12 * h * h + 13 * h) + (48 + 64) * h);
  EXPECT_DOUBLE_EQ(tower.projector_parameters(), 256.0 * 512 + 512 * 1024);
  TransformerSpec model = small_model();
  const double alone = model.parameters();
  model.tower = std::make_shared<const Tower>(tower);
  EXPECT_DOUBLE_EQ(model.parameters(), alone + tower.parameters());
}

// On the first stage alone. tp divides matrices, but not norms, biases after products by rows, the
// embedding of patches and the projector; it divides nothing if it does not divide heads and MLP.
TEST(Tower, StandsOnTheFirstStage) {
  TransformerSpec model = small_model();
  const auto stages_of = [&](int tp, const std::shared_ptr<const Tower>& tower) {
    model.tower = tower;
    return stage_parameters(model, {.tp = tp, .pp = 2});
  };
  const Tower tower = small_tower();
  const auto shared = std::make_shared<const Tower>(tower);
  const double h = tower.layers.hidden;
  const double whole = (48 + 64) * h + tower.projector_parameters();
  for (const int tp : {1, 2, 4}) {
    const std::vector<double> alone = stages_of(tp, nullptr);
    const std::vector<double> stages = stages_of(tp, shared);
    EXPECT_DOUBLE_EQ(stages[1], alone[1]);
    const double layers = 2 * ((12 * h * h + 7 * h) / tp + 6 * h);
    EXPECT_DOUBLE_EQ(stages[0] - alone[0], layers + whole) << tp;
  }
  EXPECT_DOUBLE_EQ(stages_of(8, shared)[0] - stages_of(8, nullptr)[0], tower.parameters());
}

}  // namespace
}  // namespace windtunnel
