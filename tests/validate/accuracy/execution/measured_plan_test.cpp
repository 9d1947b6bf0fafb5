#include <gtest/gtest.h>

#include "tests/sim/engine/plan_maker.hpp"
#include "validate/accuracy/execution/executed_plan.hpp"

namespace windtunnel {
namespace {

TEST(MeasuredPlan, HasTheTimesOfEachRank) {
  Plan plan;
  plan.ranks = 2;
  RankClass both;
  both.members = {0, 1};
  both.streams = {{"c"}};
  both.peers = {{1, 0}};
  both.tasks = {compute("f", 0, 7), send("s", 0, 0, 1, 8), recv("r", 0, 0, 1, 8)};
  plan.classes = {both};
  ASSERT_NO_THROW(validate_plan(plan));
  Timeline measured;
  measured.ranks = {{0, 0, 1, {{0, 2}, {2, 3}, {3, 4}}}, {1, 0, 1, {{1, 4}, {4, 5}, {5, 6}}}};
  const Plan ran = measured_plan(plan, measured);
  ASSERT_NO_THROW(validate_plan(ran));
  ASSERT_EQ(ran.classes.size(), 2u);
  EXPECT_EQ(total_seconds(ran.classes[0].tasks[0].cost), 2);
  EXPECT_EQ(total_seconds(ran.classes[1].tasks[0].cost), 3);
  EXPECT_EQ(ran.classes[1].peers, (std::vector<std::vector<RankId>>{{0}}));
  EXPECT_EQ(ran.classes[1].tasks[1], both.tasks[1]) << "messages stay";
}

}  // namespace
}  // namespace windtunnel
