#include "sim/engine/way_loads.hpp"

#include <gtest/gtest.h>

#include "tests/sim/engine/way_table.hpp"

namespace windtunnel {
namespace {

TEST(WayLoads, FlowsOfAKindShareTheirWay) {
  const WayTable ways({{0, 1}, {0, 1}, {1, 1}}, 2, 10);
  const WayLoads loads = ways.loads();
  const WayLoads::Way way = loads.slowest_way(0);
  EXPECT_EQ(way.link, 0);
  EXPECT_DOUBLE_EQ(way.flows, 2);
  EXPECT_DOUBLE_EQ(way.seconds_per_unit(), 0.2);
  EXPECT_DOUBLE_EQ(loads.slowest_way(2).seconds_per_unit(), 0.1);
  EXPECT_DOUBLE_EQ(loads.amount(0), 1);
}

TEST(WayLoads, OtherKindsTakeWhatTheyNeedOnAverage) {
  // Two flows of kind 5 keep the path busy for one second.
  const WayTable ways({{0, 1}, {0, 5}, {0, 5}}, 1, 10);
  EXPECT_DOUBLE_EQ(ways.loads(4).slowest_way(0).capacity, 10 * (1 - 1.0 / 4));
}

TEST(WayLoads, OtherKindsNeverTakeMoreThanTheirFairShare) {
  // Without a longer plan the path is busy all the time, for 1.1 s: one flow of three gets a third.
  const WayTable ways({{0, 1}, {0, 5}, {0, 5}}, 1, 10);
  EXPECT_DOUBLE_EQ(ways.loads().slowest_way(0).capacity, 10 * (1 - 2.0 / 3));
}

TEST(WayLoads, GroupsOfReplicasDoNotSeeEachOtherOnAverage) {
  WayTable ways({{0, 1}, {0, 5}}, 1, 10);
  ways.in_pipeline = {0, 0};
  EXPECT_DOUBLE_EQ(ways.loads().slowest_way(0).capacity, 10);
}

TEST(WayLoads, AFlowWithoutAChoiceHasNoWay) {
  WayTable ways({{0, 1}}, 1, 10);
  ways.table.chosen = {0};
  EXPECT_EQ(ways.loads().slowest_way(0).link, -1);
  EXPECT_EQ(ways.loads().slowest_way(0).seconds_per_unit(), 0);
}

TEST(SharedWays, AsManyOfAKindShareAWayAsInTruth) {
  // Paths 0 and 1 carry 10 units per second; path 0 has three flows and path 1 has one, all of one
  // kind.
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
