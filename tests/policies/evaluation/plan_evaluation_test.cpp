#include "policies/evaluation/plan_evaluation.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

Task task_of(std::int16_t stream, double seconds, std::vector<TaskIndex> after = {},
             int priority = 0) {
  Task task;
  task.stream = stream;
  task.cost = {{Category::forward, Origin::spec, seconds}};
  task.after = std::move(after);
  task.priority = priority;
  return task;
}

Plan one_rank(std::vector<Stream> streams, std::vector<Task> tasks) {
  Plan plan;
  plan.ranks = 1;
  plan.classes = {{"all", {0}, std::move(streams), std::move(tasks), {}, {}}};
  return plan;
}

std::vector<double> ends_s(const Plan& plan, const Cluster& cluster) {
  const Timeline timeline = evaluate_plan(plan, cluster);
  std::vector<double> ends;
  for (const Span& span : timeline.ranks.front().spans) ends.push_back(span.end_s);
  return ends;
}

const Cluster kCluster = small_cluster(2, 2);

TEST(PlanEvaluation, AStreamByPriorityTakesTheMostUrgentReadyTask) {
  const Plan plan = one_rank({{"compute", StreamOrder::by_priority}, {"dp"}},
                             {task_of(0, 1), task_of(0, 1, {0}), task_of(0, 1, {1}),
                              task_of(1, 1.5), task_of(0, 0.25, {3}, 1)});
  // The urgent task is ready at 1.5, while the second task runs, and precedes the third.
  EXPECT_EQ(ends_s(plan, kCluster), (std::vector<double>{1, 2, 3.25, 1.5, 2.25}));
}

TEST(PlanEvaluation, WhatEndsAtTheSameTimeComesBeforeTheChoice) {
  const Plan plan =
      one_rank({{"compute", StreamOrder::by_priority}, {"dp"}},
               {task_of(0, 1), task_of(0, 1, {0}), task_of(1, 1), task_of(0, 0.5, {2}, 1)});
  EXPECT_EQ(ends_s(plan, kCluster), (std::vector<double>{1, 2.5, 1, 1.5}));
}

TEST(PlanEvaluation, JoinsTheFirstAndWaitsUntilItsTime) {
  Plan plan =
      one_rank({{"a"}, {"b"}, {"c"}}, {task_of(0, 3), task_of(1, 1), task_of(2, 1, {0, 1})});
  plan.classes[0].tasks[2].join_first = 1;
  EXPECT_EQ(ends_s(plan, kCluster)[2], 2);
  plan.classes[0].tasks[2].not_before_s = 5;
  EXPECT_EQ(ends_s(plan, kCluster)[2], 6);
}

TEST(PlanEvaluation, ADeadlockIsNamed) {
  const Plan plan = one_rank({{"a"}}, {task_of(0, 1, {1}), task_of(0, 1)});
  EXPECT_THROW(evaluate_plan(plan, kCluster), InternalError);
}

TEST(PlanEvaluation, ASlowNodeSlowsKernelsOfItsClass) {
  Cluster cluster = kCluster;
  cluster.slow_nodes = {{0, 1.5}};
  const Plan plan = one_rank({{"compute"}}, {task_of(0, 2)});
  EXPECT_EQ(ends_s(plan, cluster).front(), 3);
}

}  // namespace
}  // namespace windtunnel
