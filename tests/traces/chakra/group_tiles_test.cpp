#include <gtest/gtest.h>

#include "traces/chakra/rank_plan.hpp"

namespace windtunnel {
namespace {

using Tiles = std::vector<std::vector<RankId>>;

TEST(GroupTiles, LieAsTheKnownGroupDoes) {
  EXPECT_EQ(group_tiles({0, 1}, 4), (Tiles{{0, 1}, {2, 3}}));
  EXPECT_EQ(group_tiles({0, 2}, 8), (Tiles{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(group_tiles({5, 7}, 8), (Tiles{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(group_tiles({0, 1, 4, 5}, 8), (Tiles{{0, 1, 4, 5}, {2, 3, 6, 7}}));
  EXPECT_EQ(group_tiles({1, 0}, 4), (Tiles{{1, 0}, {3, 2}}));  // in the given order
}

TEST(GroupTiles, AreNoneWhereShiftsDoNotCoverTheRanks) {
  EXPECT_TRUE(group_tiles({0, 1}, 5).empty());
  EXPECT_TRUE(group_tiles({1, 2}, 4).empty());  // {0, 1} and {2, 3} cover it; its shifts do not
  EXPECT_TRUE(group_tiles({0, 3}, 5).empty());
  EXPECT_TRUE(group_tiles({}, 4).empty());
  EXPECT_TRUE(group_tiles({0}, 0).empty());
}

}  // namespace
}  // namespace windtunnel
