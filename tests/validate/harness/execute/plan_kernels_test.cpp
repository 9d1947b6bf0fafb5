#include "validate/harness/execute/plan_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/engine/plan_maker.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/small_job.hpp"
#include "tests/validate/harness/device_ranks.hpp"
#include "validate/harness/execute/execute_plan.hpp"
#include "validate/harness/ranks/own_core.hpp"

namespace windtunnel {
namespace {

TEST(PlanKernels, ATaskNamesThemByWhatItsTimeIsFor) {
  EXPECT_EQ(kernel_role(Category::backward), KernelRole::product);
  EXPECT_EQ(kernel_role(Category::optimizer), KernelRole::update);
  EXPECT_EQ(kernel_role(Category::compression), KernelRole::compression);
  EXPECT_EQ(kernel_role(Category::host), std::nullopt);
  EXPECT_EQ(to_text(kernels_for("top-k")[2]), "top-k k=655 elements=65536");
  EXPECT_EQ(to_text(kernels_for("none")[2]), "quantise-int8 elements=65536");
  PlanKernels kernels;
  kernels.run_s = {1e-3, 2e-3, 3e-3};
  // Parts shorter than a run are joined to one run, so that no time is lost.
  const std::vector<CostPart> cost = {{Category::forward, Origin::assumed, 6},
                                      {Category::recompute, Origin::assumed, 6.4},
                                      {Category::compression, Origin::assumed, 10},
                                      {Category::host, Origin::assumed, 2}};
  const PlanKernels::Share share = kernels.share(cost, 1e-3 / 4);
  EXPECT_EQ(share.runs, (std::array{3, 0, 0}));
  EXPECT_NEAR(share.waits_s, 0.1e-3 + 2.5e-3 + 0.5e-3, 1e-12);
}

class PlanKernelsTest : public DeviceRanksTest {};

// A task of 40 ms runs as many kernels as fit, and a task that is no kernel waits 40 ms. The time
// of a kernel depends on the machine's other load, but the number of kernels does not: it is ten
// times the number that fits by measurement, but at most 8000. As no device runs a kernel in less
// than a microsecond, 8000 kernels take more than 8 ms.
TEST_F(PlanKernelsTest, RunInTheTimeOfTheirTask) {
  PlanKernels kernels = measured_kernels(kTestDevice, 1, "none");
  for (double& run_s : kernels.run_s) {
    EXPECT_GT(run_s, 0);
    run_s = std::max(5e-6, run_s / 10);
  }
  Plan plan;
  plan.ranks = 1;
  RankClass rank_class;
  rank_class.members = {0};
  rank_class.streams = {{"c"}};
  for (const Category category : {Category::forward, Category::optimizer, Category::host}) {
    Task task = plain(TaskKind::compute, "t", 0, 0);
    task.cost = {{category, Origin::assumed, 40}};
    rank_class.tasks.push_back(task);
  }
  plan.classes = {rank_class};
  ExecuteOptions options;
  options.scale = {1000, 1};
  options.calibration = ideal_calibration();
  options.kernels = kernels;
  const Timeline timeline = execute_plan(plan, small_cluster(1, 1), options).timeline;
  for (const Span& span : timeline.ranks[0].spans) EXPECT_GT(span.end_s - span.start_s, 8);
  EXPECT_GE(timeline.ranks[0].spans[2].end_s - timeline.ranks[0].spans[2].start_s, 40);
}

TEST_F(PlanKernelsTest, AreRefusedWhereRanksWouldShareADevice) {
  const std::string fault = error_of([] { measured_kernels(kTestDevice, 1000, "none"); });
  EXPECT_TRUE(fault.starts_with("1000 ranks would compute at once on ")) << fault;
}

}  // namespace
}  // namespace windtunnel
