// Collectives of tensor, context and expert parallelism as tasks of the Plan: where the network is
// idle the same step as in closed form, and nowhere a step that beats its links.
#include <gtest/gtest.h>

#include <cmath>

#include "models/base/error.hpp"
#include "policies/analysis/plan_bound.hpp"
#include "policies/iteration.hpp"
#include "sim/engine/engine.hpp"
#include "tests/sim/study/random_layout.hpp"

namespace windtunnel {
namespace {

constexpr int kBlocks = 20;

struct Simulated {
  Plan plan;
  double step_s = 0;
};

Simulated run_of(Job job, const PreparedIteration& prepared, InnerForm inner,
                 FoldMode fold = FoldMode::automatic) {
  job.communication.inner = inner;
  Simulated run{iteration_plan(job, prepared), 0};
  run.step_s =
      execute(run.plan, job.cluster, {.fold = fold, .calibration = job.calibration}).makespan_s;
  return run;
}

bool talks(const Layout& layout) {
  return layout.tp * layout.cp * layout.ep > 1;
}

class InnerCollectives : public testing::TestWithParam<int> {};

TEST_P(InnerCollectives, TakeAsLongAsInClosedFormWhereNothingElseUsesTheirLinks) {
  constexpr int kInBlock = 500 / kBlocks;
  int jobs = 0;
  for (auto number = std::uint64_t(GetParam()) * 1000; jobs < kInBlock; ++number) {
    ASSERT_LT(number % 1000, 999u) << "the reader refuses nearly all scenarios";
    const auto drawn = random_layout_case(number, InnerSpread::in_node);
    if (!drawn || !talks(drawn->job.layout)) continue;
    // Beside slower kernels more of a collective is hidden, which seconds do not know.
    if (!drawn->job.cluster.slow_nodes.empty()) continue;
    const PreparedIteration prepared = prepare_iteration(drawn->job);
    const double folded_s = run_of(drawn->job, prepared, InnerForm::folded).step_s;
    const Simulated tasks = run_of(drawn->job, prepared, InnerForm::tasks);
    EXPECT_NEAR(tasks.step_s / folded_s, 1, 1e-6) << random_layout(number, InnerSpread::in_node);
    ++jobs;
  }
}

TEST_P(InnerCollectives, BeatNeitherTheirLinksNorTheirKernels) {
  constexpr int kInBlock = 2000 / kBlocks;
  int jobs = 0;
  for (auto number = std::uint64_t(GetParam()) * 10000; jobs < kInBlock; ++number) {
    ASSERT_LT(number % 10000, 9999u) << "the reader refuses nearly all scenarios";
    const auto drawn = random_layout_case(number, InnerSpread::anywhere);
    if (!drawn) continue;
    const Simulated run = run_of(drawn->job, prepare_iteration(drawn->job), InnerForm::tasks);
    const PlanBound bound = plan_bound(run.plan, drawn->job.cluster, CountedTransfers::all);
    EXPECT_GE(run.step_s, bound.seconds() * (1 - 1e-9))
        << bound.link << "\n"
        << random_layout(number, InnerSpread::anywhere);
    ++jobs;
  }
}

TEST_P(InnerCollectives, FoldAsAnythingElse) {
  constexpr int kInBlock = 60 / kBlocks;
  int jobs = 0;
  for (auto number = std::uint64_t(GetParam()) * 1000; jobs < kInBlock; ++number) {
    ASSERT_LT(number % 1000, 999u) << "the reader refuses nearly all scenarios";
    const auto drawn = random_layout_case(number, InnerSpread::anywhere);
    if (!drawn || !talks(drawn->job.layout)) continue;
    const PreparedIteration prepared = prepare_iteration(drawn->job);
    const double folded_s = run_of(drawn->job, prepared, InnerForm::tasks).step_s;
    const double whole_s = run_of(drawn->job, prepared, InnerForm::tasks, FoldMode::none).step_s;
    EXPECT_NEAR(whole_s / folded_s, 1, 1e-6) << random_layout(number, InnerSpread::anywhere);
    ++jobs;
  }
}

INSTANTIATE_TEST_SUITE_P(Blocks, InnerCollectives, testing::Range(0, kBlocks));

}  // namespace
}  // namespace windtunnel
