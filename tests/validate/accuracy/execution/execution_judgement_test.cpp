#include "validate/accuracy/execution/execution_judgement.hpp"

#include <gtest/gtest.h>

#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

// Returns a scenario with this predicted step and these measured ones.
JudgedExecution judged_of(const std::string& name, double predicted_s,
                          const std::vector<double>& measured_s) {
  JudgedExecution judged;
  judged.executed.scenario = name;
  judged.executed.plan.classes.emplace_back();
  judged.executed.plan.classes[0].tasks.emplace_back();
  const auto timeline_of = [](double end_s) {
    Timeline timeline;
    timeline.ranks.push_back({0, 0, 1, {{0, end_s}}});
    timeline.iteration_end_s = {end_s};
    return timeline;
  };
  judged.executions.predicted = timeline_of(predicted_s);
  for (const double end_s : measured_s) judged.executions.measured.push_back(timeline_of(end_s));
  judged.comparison =
      compare_execution(judged.executed, judged.executions.predicted, judged.executions.measured);
  return judged;
}

// A scenario's own errors do not enter its interval.
TEST(ExecutionJudgement, IntervalsAreOfTheOtherScenarios) {
  std::vector<JudgedExecution> judged = {judged_of("a", 1, {1.01, 1.02}),
                                         judged_of("b", 2, {2.02, 2.04}),
                                         judged_of("c", 4, {8, 8, 4.04})};
  add_intervals(judged);
  EXPECT_LT(judged[2].high_s, 4.4) << "its own miss widened it";
  EXPECT_NEAR(judged[2].within, 1.0 / 3, 1e-12);
  EXPECT_GT(judged[0].high_s, 1.5) << "the miss of another did not";
  EXPECT_EQ(judged[0].within, 1);
}

TEST(ExecutionJudgement, CountsThePairsInOrderThatDiffer) {
  const std::vector<JudgedExecution> judged = {judged_of("a", 1.3, {1}),
                                               judged_of("b", 1.2, {1.05}),
                                               judged_of("c", 1.1, {2}), judged_of("d", 4, {4})};
  const ExecutionVerdict verdict = verdict_on(judged);
  EXPECT_EQ(verdict.pairs, 5);  // all pairs except a and b
  EXPECT_EQ(verdict.pairs_in_order, 3);
  EXPECT_NEAR(verdict.median_step_error, (0.3 + 1.2 / 1.05 - 1) / 2, 1e-12);
  EXPECT_EQ(verdict.coverage, -1) << "no intervals were given";
  ASSERT_EQ(verdict.kinds.size(), 1u);
  EXPECT_NEAR(verdict.kinds[0].total.error(), (1.3 + 1.2 + 1.1 + 4) / 8.05 - 1, 1e-12);
}

// Overheads are measured with a plan that runs in both executors. Another plan then gets them for
// each wait, send and round.
TEST(MachineOverheads, AreAddedToEachTask) {
  ExecutedPlan executed;
  executed.cluster = small_cluster(4, 1);
  executed.calibration = ideal_calibration();
  executed.plan.ranks = 4;
  executed.kernels.emplace();
  executed.nccl = true;
  const ExecutionScale scale = {10, 1000};
  const ExecutedPlan probe = overhead_probe(executed, scale);
  EXPECT_EQ(execution_ways(executed).computations, "cpu kernels");
  EXPECT_EQ(execution_ways(probe).computations, "waits");
  EXPECT_EQ(execution_ways(probe).collectives, "tcp");
  ASSERT_NO_THROW(validate_plan(probe.plan));
  const ExecutedPlan longer = with_overheads(probe, {1e-3, 2e-3, 0, 3e-3}, scale);
  double waits_s = 0, sends_s = 0, sums_s = 0;
  for (std::size_t t = 0; t < longer.plan.classes[0].tasks.size(); ++t) {
    const Task& task = longer.plan.classes[0].tasks[t];
    const double more_s =
        total_seconds(task.cost) - total_seconds(probe.plan.classes[0].tasks[t].cost);
    if (task.kind == TaskKind::compute) waits_s = more_s;
    if (task.kind == TaskKind::send) sends_s = more_s;
    if (task.kind == TaskKind::collective) sums_s = more_s;
  }
  EXPECT_NEAR(waits_s, 1e-2, 1e-12);
  EXPECT_NEAR(sends_s, 2e-2, 1e-12);
  EXPECT_NEAR(sums_s, 6 * 3e-2, 1e-12) << "six steps of a ring of four";
  EXPECT_GT(step_seconds(longer, predicted_timeline(longer)),
            step_seconds(probe, predicted_timeline(probe)));
}

}  // namespace
}  // namespace windtunnel
