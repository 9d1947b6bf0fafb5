#include "models/plan/pipeline_stages.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

const Layout kLayout{.pp = 2, .vpp = 3};

TEST(PipelineStages, LoopOverTheRanksWhereNoScheduleSaysOtherwise) {
  EXPECT_EQ(looped_ranks(kLayout), (std::vector{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(stages_of_ranks(kLayout, {}), (HeldStages{{0, 2, 4}, {1, 3, 5}}));
  const HeldStages vee = {{0, 3, 4}, {1, 2, 5}};
  EXPECT_EQ(stages_of_ranks(kLayout, vee), vee);
}

TEST(PipelineStages, FirstChunksOfARankHaveTheLayersThatAreLeft) {
  EXPECT_EQ(layers_of_stages(kLayout, std::vector{7, 5}), (std::vector{3, 2, 2, 2, 2, 1}));
  EXPECT_EQ(layers_of_stages({.pp = 3}, std::vector{4, 0, 1}), (std::vector{4, 0, 1}));
}

TEST(PipelineStages, MoreChunksFillSooner) {
  EXPECT_DOUBLE_EQ(filling_microbatches({.pp = 4}), 3);
  EXPECT_DOUBLE_EQ(filling_microbatches({.pp = 4, .vpp = 2}), 1.5);
  EXPECT_EQ(filling_microbatches({}), 0);
}

TEST(PipelineStages, RanksStandWhereTheyAreWhateverTheirLayers) {
  Layout layout{.tp = 2, .pp = 4, .vpp = 2, .dp = 3};
  const Layout plain{.tp = 2, .pp = 4, .dp = 3};
  layout.stage_layers = {1, 2, 3, 4, 5, 6, 7, 8};
  layout.first_stage_layers = -1;
  EXPECT_NE(layout, plain);
  EXPECT_EQ(without_stages(layout), plain);
}

}  // namespace
}  // namespace windtunnel
