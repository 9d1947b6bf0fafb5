#include "sim/study/plan/make_plan.hpp"

#include <gtest/gtest.h>

#include "models/cost/memory/memory.hpp"

namespace windtunnel {
namespace {

PlanRequest asked() {
  return {.model = "llama3-8b", .nodes = 6, .node = "dgx-h100", .tokens = 1e11};
}

TEST(MakePlan, LeavesTheMemoryFreeThatWasAskedFor) {
  for (const double headroom : {0.1, 0.4}) {
    PlanRequest request = asked();
    request.headroom = headroom;
    const PlanReport plan = make_plan(request);
    const double usable = usable_bytes(plan.basis.node.gpu);
    EXPECT_LE(plan.best.memory_bytes, (1 - headroom) * usable);
    EXPECT_LE(plan.best.point.nodes + plan.best.point.spares, request.nodes);
  }
}

TEST(MakePlan, ThreadsChangeNothing) {
  PlanRequest request = asked();
  request.threads = 1;
  const PlanReport one = make_plan(request);
  request.threads = 3;
  const PlanReport three = make_plan(request);
  EXPECT_EQ(one.scenario, three.scenario);
  EXPECT_EQ(one.best.goodput, three.best.goodput);
}

// Nodes that fail more often are worth more snapshots or spares, and take longer.
TEST(MakePlan, MoreFailuresTakeLonger) {
  PlanRequest request = asked();
  const PlanReport few = make_plan(request);
  request.set = {{"failures", "[{class: node, rate: 300 per 1000 node-days, repair: 1 d}]"}};
  const PlanReport many = make_plan(request);
  EXPECT_GT(many.best.days, 1.02 * few.best.days);
  EXPECT_NEAR(usd_of(few.basis, few.best), few.record.campaign->job_cost_usd.mean,
              0.01 * usd_of(few.basis, few.best));
}

}  // namespace
}  // namespace windtunnel
