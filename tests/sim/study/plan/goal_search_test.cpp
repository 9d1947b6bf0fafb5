#include "sim/study/plan/goal_search.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

PlanRequest request(int nodes) {
  return {.model = "llama3-8b", .nodes = nodes, .node = "dgx-h100", .tokens = 1e11};
}

// "At least so many nodes" is true: one less is too few.
TEST(GoalSearch, OneNodeLessWouldNotDo) {
  const double days = make_plan(request(8)).best.days;
  PlanRequest asked = request(4);
  asked.deadline_days = 1.001 * days;
  const PlanReport plan = make_plan(asked);
  ASSERT_TRUE(plan.for_days.has_value());
  ASSERT_TRUE(plan.for_days->met);
  const int fewest = plan.for_days->plan->basis.request.nodes;
  EXPECT_LE(plan.for_days->plan->best.days, *asked.deadline_days);
  EXPECT_LE(fewest, 8);
  ASSERT_GT(fewest, 4);
  EXPECT_GT(make_plan(request(fewest - 1)).best.days, *asked.deadline_days);
}

// Numbers of nodes that no layout divides without a spare are reached with one, as by the plan:
// 13 nodes train on 12.
TEST(GoalSearch, SparesAreTriedAsInThePlan) {
  const double days = make_plan(request(13)).best.days;
  PlanRequest asked = request(4);
  asked.deadline_days = 1.001 * days;
  const PlanReport plan = make_plan(asked);
  ASSERT_TRUE(plan.for_days.has_value());
  ASSERT_TRUE(plan.for_days->met);
  EXPECT_LE(plan.for_days->plan->basis.request.nodes, 13);
}

// What comes nearest to a budget is never dearer than the plan itself.
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

}  // namespace
}  // namespace windtunnel
