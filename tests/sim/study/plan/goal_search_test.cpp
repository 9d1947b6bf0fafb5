#include "sim/study/plan/goal_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace windtunnel {
namespace {

PlanRequest request(int nodes) {
  return {.model = "llama3-8b", .nodes = nodes, .node = "dgx-h100", .tokens = 1e11};
}

PlanReport best_of(int nodes) {
  return *best_of_plan(request(nodes), [](const auto&, const auto&) { return false; });
}

// Plans on 4 nodes, with the days in which `nodes` nodes just finish as the goal.
PlanReport plan_for_days_of(int nodes) {
  PlanRequest asked = request(4);
  asked.deadline_days = 1.001 * best_of(nodes).best.days;
  return make_plan(asked);
}

// "At least N nodes" is true only if one node less is too few.
TEST(GoalSearch, OneNodeLessWouldNotDo) {
  const PlanReport plan = plan_for_days_of(8);
  const double deadline_days = *plan.basis.request.deadline_days;
  ASSERT_TRUE(plan.for_days.has_value());
  ASSERT_TRUE(plan.for_days->met);
  const int fewest = plan.for_days->plan->basis.request.nodes;
  EXPECT_LE(plan.for_days->plan->best.days, deadline_days);
  EXPECT_LE(fewest, 8);
  ASSERT_GT(fewest, 4);
  EXPECT_GT(best_of(fewest - 1).best.days, deadline_days);
}

// Some numbers of nodes fit no layout without a spare: 13 nodes train on 12, here as in the plan.
TEST(GoalSearch, SparesAreTriedAsInThePlan) {
  const PlanReport plan = plan_for_days_of(13);
  ASSERT_TRUE(plan.for_days.has_value());
  ASSERT_TRUE(plan.for_days->met);
  EXPECT_LE(plan.for_days->plan->basis.request.nodes, 13);
}

// The plan that comes nearest to a budget never costs more than the given plan.
TEST(GoalSearch, TheNearestIsNoFurtherThanThePlan) {
  PlanRequest asked = request(8);
  asked.budget_usd = 1;
  const PlanReport plan = make_plan(asked);
  ASSERT_TRUE(plan.for_budget.has_value());
  ASSERT_NE(plan.for_budget->plan, nullptr);
  EXPECT_FALSE(plan.for_budget->met);
  EXPECT_LE(usd_of(plan.for_budget->plan->basis, plan.for_budget->plan->best),
            usd_of(plan.basis, plan.best));
}

TEST(GoalSearch, SaysInASentenceWhyFewerNodesDoNotDo) {
  PlanRequest asked = request(4);
  asked.model = "llama3-70b";
  asked.budget_usd = 1;
  const PlanReport plan = make_plan(asked);
  ASSERT_TRUE(plan.for_budget.has_value());
  EXPECT_THAT(plan.for_budget->why,
              testing::MatchesRegex("on [0-9]+ nodes no configuration is feasible: [a-z, ]+ "
                                    "\\([0-9]+ configurations\\)"));
}

}  // namespace
}  // namespace windtunnel
