#include "sim/engine/shared_ways.hpp"

#include <gtest/gtest.h>

#include "tests/sim/engine/way_table.hpp"

namespace windtunnel {
namespace {

TEST(SharedWays, AsManyOfAKindShareAWayAsInTruth) {
  // Ways 0 and 1 of 10 units a second, with three and one flows of one kind.
  const WayTable ways({{0, 1}, {0, 1}, {0, 1}, {1, 1}}, 2, 10);
  const WayLoads loads = ways.loads();
  const std::vector<SharedWay> all = shared_ways({0, 1, 2, 3}, ways.kinds, loads);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].flows.size(), 3u);
  EXPECT_DOUBLE_EQ(all[0].capacity, 10);
  EXPECT_EQ(all[1].flows.size(), 1u);
  EXPECT_DOUBLE_EQ(all[1].capacity, 10);
}

TEST(SharedWays, WhereTheyAreFewerSoIsTheCapacity) {
  const WayTable ways({{0, 1}, {0, 1}, {0, 1}, {1, 1}}, 2, 10);
  const WayLoads loads = ways.loads();
  const std::vector<SharedWay> some = shared_ways({1}, ways.kinds, loads);
  ASSERT_EQ(some.size(), 1u);
  EXPECT_DOUBLE_EQ(some[0].capacity, 10.0 / 3);
}

}  // namespace
}  // namespace windtunnel
