#include "models/compression/boundary.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"
#include "models/base/random.hpp"

namespace windtunnel {
namespace {

TEST(Boundary, BytesAndFlopsByHand) {
  RandomStream random(3, RandomPurpose::test, 0);
  for (int i = 0; i < 100; ++i) {
    const double rows = 1 + static_cast<double>(random.below(4096));
    const double width = 1 + static_cast<double>(random.below(4096));
    const double rank = 1 + static_cast<double>(random.below(static_cast<std::uint64_t>(width)));
    const BoundaryRecipe recipe = low_rank_boundary(rows, width, rank, 2);
    EXPECT_DOUBLE_EQ(recipe.bytes, 2 * rows * rank);
    EXPECT_DOUBLE_EQ(recipe.before.at(0).flops, 2 * rows * width * rank);
    EXPECT_DOUBLE_EQ(recipe.behind.at(0).flops, 2 * rows * width * rank);
    EXPECT_DOUBLE_EQ(recipe.before.at(0).bytes, 2 * (rows * width + width * rank + rows * rank));
  }
}

// Guo et al. 2022 report 96 times less traffic, for a width of 768 (BERT-Base) and a rank of 8.
TEST(Boundary, TrafficOfSplitFineTuning) {
  const double whole = 128 * 768 * 4;
  EXPECT_DOUBLE_EQ(whole / low_rank_boundary(128, 768, 8, 4).bytes, 96);
}

TEST(Boundary, RanksAboveTheWidthAreRefused) {
  EXPECT_THROW(low_rank_boundary(10, 64, 65, 2), Error);
  EXPECT_THROW(low_rank_boundary(10, 64, 0, 2), Error);
  EXPECT_NO_THROW(low_rank_boundary(10, 64, 64, 2));
}

TEST(Boundary, PackedElementsAndTheirKernelsByHand) {
  const ActivationCodec codec = *activation_codec({.name = "int8"});
  const BoundaryRecipe recipe = packed_boundary(1000, 2, codec);
  EXPECT_DOUBLE_EQ(recipe.bytes, 1000 * (1 + 4.0 / 256));
  EXPECT_DOUBLE_EQ(recipe.before.at(0).bytes, 2000 + recipe.bytes);
  EXPECT_DOUBLE_EQ(recipe.behind.at(0).bytes, 2000 + recipe.bytes);
  const BoundaryRecipe as_it_is = packed_boundary(1000, 1, codec);
  EXPECT_DOUBLE_EQ(as_it_is.bytes, 1000);
  EXPECT_TRUE(as_it_is.before.empty() && as_it_is.behind.empty());
}

}  // namespace
}  // namespace windtunnel
