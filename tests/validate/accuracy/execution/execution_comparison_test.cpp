#include <gtest/gtest.h>

#include "validate/accuracy/execution/execution_judgement.hpp"

namespace windtunnel {
namespace {

Task task_of(TaskKind kind, double seconds) {
  Task task;
  task.kind = kind;
  task.name = "task";
  task.cost = {{Category::forward, Origin::assumed, seconds}};
  return task;
}

// The plan has one rank with two computations and a copy, one after the other.
ExecutedPlan three_tasks() {
  ExecutedPlan executed;
  RankClass rank_class;
  rank_class.members = {0};
  rank_class.streams = {{"compute"}};
  rank_class.tasks = {task_of(TaskKind::compute, 1), task_of(TaskKind::compute, 2),
                      task_of(TaskKind::copy, 3)};
  executed.plan.ranks = 1;
  executed.plan.classes = {rank_class};
  return executed;
}

Timeline timeline_of(double first_s, double second_s, double third_s) {
  Timeline timeline;
  RankTimeline rank;
  rank.spans = {{0, first_s},
                {first_s, first_s + second_s},
                {first_s + second_s, first_s + second_s + third_s}};
  timeline.ranks = {rank};
  timeline.makespan_s = rank.spans.back().end_s;
  timeline.iteration_end_s = {timeline.makespan_s};
  return timeline;
}

TEST(ExecutionComparison, TakesTheMedianOfStepsRanksAndKinds) {
  const ExecutedPlan executed = three_tasks();
  const std::vector<Timeline> measured = {timeline_of(1, 4, 3), timeline_of(1, 2, 6),
                                          timeline_of(9, 9, 9)};
  const ExecutionComparison result = compare_execution(executed, timeline_of(1, 2, 3), measured);
  EXPECT_EQ(result.executions, 3);
  EXPECT_EQ(&usual_execution(executed, measured, result), &measured[1]);
  EXPECT_EQ(result.step.predicted_s, 6);
  EXPECT_EQ(result.step.measured_s, 9);
  EXPECT_DOUBLE_EQ(result.step.error(), 6.0 / 9 - 1);
  EXPECT_EQ(result.low_s, 8);
  EXPECT_EQ(result.high_s, 27);
  ASSERT_EQ(result.ranks.size(), 1u);
  EXPECT_EQ(result.ranks[0].end.measured_s, 9);
  ASSERT_EQ(result.iterations.size(), 1u);
  ASSERT_EQ(result.kinds.size(), 2u);
  EXPECT_EQ(name_of(result.kinds[0].kind), "compute");
  EXPECT_EQ(result.kinds[0].tasks, 2);
  EXPECT_EQ(result.kinds[0].total.measured_s, 5);
  EXPECT_EQ(result.kinds[1].total.measured_s, 6);
  // The two computations have measured medians of 1 and 4 s, and errors of 0 and a half.
  EXPECT_DOUBLE_EQ(result.kinds[0].median_error, 0.25);
}

}  // namespace
}  // namespace windtunnel
