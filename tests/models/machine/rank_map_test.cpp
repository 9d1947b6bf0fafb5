#include "models/machine/rank_map.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

TEST(RankMap, IsNothingWhereRanksAreInOrder) {
  EXPECT_TRUE(RankMap().in_order());
  EXPECT_TRUE(RankMap({0, 1, 2, 3}).in_order());
  EXPECT_EQ(RankMap({0, 1, 2, 3}), RankMap());
  EXPECT_EQ(RankMap().gpu_of(7), 7);
  EXPECT_EQ(RankMap().rank_on(7), 7);
}

TEST(RankMap, LeadsThereAndBack) {
  const RankMap map({2, 0, 3, 1});
  EXPECT_FALSE(map.in_order());
  EXPECT_EQ(map.gpu_of(0), 2);
  EXPECT_EQ(map.rank_on(2), 0);
  for (int rank = 0; rank < 6; ++rank) EXPECT_EQ(map.rank_on(map.gpu_of(rank)), rank);
  EXPECT_EQ(map.gpu_of(5), 5);  // not in the map
}

TEST(RankMap, HasEachGpuOnce) {
  EXPECT_THROW(RankMap({1, 1, 0}), InternalError);
  EXPECT_THROW(RankMap({3, 1, 0}), InternalError);
  // The list is sorted, but does not have each GPU once.
  EXPECT_THROW(RankMap({0, 0, 1}), InternalError);
  EXPECT_THROW(RankMap({1, 2, 3}), InternalError);
}

}  // namespace
}  // namespace windtunnel
