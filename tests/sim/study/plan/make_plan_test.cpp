#include "sim/study/plan/make_plan.hpp"

#include <gtest/gtest.h>

#include "models/cost/memory/memory.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

PlanRequest asked() {
  return {.model = "llama3-8b", .nodes = 6, .node = "dgx-h100", .tokens = 1e11};
}

// Without what a plan shows beside its choice.
PlanReport choice_of(const PlanRequest& request) {
  return *best_of_plan(request, [](const auto&, const auto&) { return false; });
}

const PlanReport& plan_as_asked() {
  static const PlanReport plan = make_plan(asked());
  return plan;
}

TEST(MakePlan, LeavesTheMemoryFreeThatWasAskedFor) {
  for (const double headroom : {0.1, 0.4}) {
    PlanRequest request = asked();
    request.headroom = headroom;
    const PlanReport plan = choice_of(request);
    const double usable = usable_bytes(plan.basis.node.gpu);
    EXPECT_LE(plan.best.memory_bytes, (1 - headroom) * usable);
    EXPECT_LE(plan.best.point.nodes + plan.best.point.spares, request.nodes);
  }
}

// If the fastest plan may not fit, the report also states one that fits with a chance of 95 %.
TEST(MakePlan, AFullGpuHasARoomierPlanBesideIt) {
  const PlanReport& plan = plan_as_asked();
  EXPECT_GT(plan.best.too_big, 0.05);
  ASSERT_EQ(plan.room.size(), 2U);
  EXPECT_EQ(plan.room[0].memory_bytes, plan.best.memory_bytes);
  EXPECT_LE(plan.room[1].too_big, 0.05);
  EXPECT_GT(plan.room[1].days, plan.best.days);
  PlanRequest stated = asked();
  stated.headroom = 0.1;
  stated.set = {{"precision", "bf16"}};
  const PlanReport as_stated = make_plan(stated);
  EXPECT_TRUE(as_stated.room.empty());
  EXPECT_TRUE(as_stated.precisions.empty());
}

TEST(MakePlan, TheBestAloneIsThatOfTheWholePlan) {
  const PlanReport& plan = plan_as_asked();
  const PlanReport alone = choice_of(asked());
  EXPECT_EQ(alone.scenario, plan.scenario);
  EXPECT_EQ(alone.best.days, plan.best.days);
  EXPECT_EQ(alone.best.goodput->mean, plan.best.goodput->mean);
  EXPECT_EQ(alone.best.memory_bytes, plan.best.memory_bytes);
  EXPECT_TRUE(alone.precisions.empty());
}

// The days without failures, by which a plan is given up, are a lower bound of its days.
TEST(MakePlan, IsGivenUpOnlyWhereItIsTooSlowWithoutFailures) {
  double without_failures = 0;
  const std::optional<PlanReport> plan =
      best_of_plan(asked(), [&](const PlanBasis&, const PlanOption& option) {
        without_failures = option.days;
        return false;
      });
  ASSERT_TRUE(plan.has_value());
  EXPECT_LE(without_failures, plan->best.days);
  EXPECT_GT(without_failures, 0.5 * plan->best.days);
  EXPECT_FALSE(best_of_plan(asked(), [](const auto&, const auto&) { return true; }).has_value());
}

// The plan keeps bf16, and the report states what fp8 would save.
TEST(MakePlan, Fp8IsTriedWhereNoPrecisionIsStated) {
  const PlanReport& plan = plan_as_asked();
  EXPECT_EQ(plan.best.point.found_at("precision"), "");
  ASSERT_EQ(plan.precisions.size(), 2U);
  EXPECT_EQ(plan.precisions[0].step_s, plan.best.step_s);
  EXPECT_EQ(plan.precisions[1].point.found_at("precision"), "fp8");
  EXPECT_LT(plan.precisions[1].step_s, plan.best.step_s);
}

// A deadline is met with more nodes, a budget with fewer. If no number of nodes meets it, the
// report states the nearest plan.
TEST(MakePlan, SaysHowManyNodesAGoalTakes) {
  PlanRequest request = asked();
  const double days = plan_as_asked().best.days;
  request.deadline_days = days / 2;
  request.budget_usd = 1;
  const PlanReport plan = make_plan(request);
  ASSERT_TRUE(plan.for_days && plan.for_days->plan && plan.for_budget && plan.for_budget->plan);
  EXPECT_TRUE(plan.for_days->met);
  const int needed = plan.for_days->plan->basis.request.nodes;
  EXPECT_GT(needed, request.nodes);
  EXPECT_LE(plan.for_days->plan->best.days, days / 2);
  EXPECT_FALSE(plan.for_budget->met);
  EXPECT_GT(usd_of(plan.for_budget->plan->basis, plan.for_budget->plan->best), 1);

  PlanRequest fewer = asked();  // three quarters of these nodes do not suffice
  fewer.nodes = needed * 3 / 4;
  EXPECT_GT(choice_of(fewer).best.days, days / 2);

  request.deadline_days = 20 * days;
  request.budget_usd = std::nullopt;
  const PlanReport slow = make_plan(request);
  EXPECT_TRUE(slow.for_days->met);
  EXPECT_LT(slow.for_days->plan->basis.request.nodes, request.nodes);
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

// The layers of these models split in other ways than those of most models: one group of Mamba
// states needs one GPU.
TEST(MakePlan, ModelsOfUnlikeLayers) {
  for (const char* model : {"mamba2-2.7b", "nemotron-h-8b"}) {
    PlanRequest request = asked();
    request.model = model;
    request.nodes = 1;
    request.tokens = 1e10;
    EXPECT_GT(choice_of(request).best.days, 0) << model;
  }
}

// The rarer failures are, the more trials run, and the mean of a longer study is in their interval.
TEST(MakePlan, GoodputIsThatOfManyTrialsWhereFewNodesFail) {
  const PlanReport& plan = plan_as_asked();
  EXPECT_GT(plan.best.point.trials, kPlanTrials);
  const Case longer = parse_case(plan.scenario, "plan.yaml",
                                 {{"campaign.replicas", "20000"}, {"campaign.seed", "2"}});
  const Estimate many = simulate(longer).campaign->goodput;
  EXPECT_NEAR(plan.best.goodput->mean, many.mean, 1e-3);
}

// If nodes fail more often, more snapshots or spares pay, and the job takes longer.
TEST(MakePlan, MoreFailuresTakeLonger) {
  PlanRequest request = asked();
  const PlanReport& few = plan_as_asked();
  request.set = {{"failures", "[{class: node, rate: 300 per 1000 node-days, repair: 1 d}]"}};
  const PlanReport many = make_plan(request);
  EXPECT_GT(many.best.days, 1.02 * few.best.days);
  ASSERT_TRUE(few.elsewhere);
  EXPECT_GT(few.elsewhere->factor, 2);
  EXPECT_GT(few.elsewhere->seldom, few.best.goodput->mean);
  EXPECT_LT(few.elsewhere->often, few.best.goodput->mean);
  EXPECT_FALSE(many.elsewhere) << "these rates are stated";
  EXPECT_NEAR(usd_of(few.basis, few.best), few.record.campaign->job_cost_usd.mean,
              0.01 * usd_of(few.basis, few.best));
}

// Plans for Megatron-LM use ZeRO only, so a compressor is combined with ZeRO.
TEST(MakePlan, ACompressorFindsReplicasToCompressAmong) {
  PlanRequest request = asked();
  request.nodes = 2;
  request.set = {{"communication.compressor", "powersgd"}};
  const PlanReport plan = choice_of(request);
  EXPECT_EQ(plan.best.point.found_at("layout.sharding"), "zero1");
  EXPECT_GT(plan.record.job.layout.dp, 1);
}

// One more node than six is paid for: the cost is that of seven nodes.
TEST(MakePlan, AFurtherNodeIsASpareThatIsPaidFor) {
  const PlanReport& plan = plan_as_asked();
  ASSERT_EQ(plan.more_nodes.size(), 2U);
  const PlanOption& more = plan.more_nodes[1];
  EXPECT_EQ(more.point.nodes, plan.best.point.nodes);
  EXPECT_EQ(more.point.spares, plan.best.point.spares + 1);
  EXPECT_GE(more.goodput->mean, plan.more_nodes[0].goodput->mean);
  const double gpu_h = more.days * 24 * 7 * 8;
  EXPECT_NEAR(usd_of(plan.basis, more), gpu_h * plan.basis.price_usd_per_gpu_h, 1e-6 * gpu_h);
}

}  // namespace
}  // namespace windtunnel
