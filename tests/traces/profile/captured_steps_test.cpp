#include "traces/profile/captured_steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/traces/profile/kineto_text.hpp"
#include "tests/traces/profile/made_kineto.hpp"
#include "traces/profile/profile_reader.hpp"

namespace windtunnel {
namespace {

using ::testing::HasSubstr;

GpuWork work(WorkKind kind, double start_s, double end_s, double launched_s = kNotLaunched) {
  return {.start_s = start_s, .end_s = end_s, .launched_s = launched_s, .kind = kind};
}

RankProfile profile_of(std::vector<GpuWork> all, std::vector<StepSpan> steps = {}) {
  RankProfile profile;
  profile.work = std::move(all);
  profile.steps = std::move(steps);
  finish_profile(profile);
  return profile;
}

TEST(CapturedSteps, TimeIsOfOneKindAtAnyMoment) {
  const CapturedRank rank = captured_steps(profile_of({
      work(WorkKind::product, 0, 4), work(WorkKind::element_wise, 3, 5),
      work(WorkKind::communication, 2, 8),  // 3 hidden, 3 exposed
      work(WorkKind::copy, 7, 9),           // 1 s of the exchange's end, then 1 s alone
      work(WorkKind::norm, 12, 13),         // after 3 s of idle time
  }));
  ASSERT_EQ(rank.steps.size(), 1u);
  EXPECT_FALSE(rank.annotated);
  const CapturedStep& step = rank.steps[0];
  EXPECT_DOUBLE_EQ(step.seconds(), 13);
  EXPECT_DOUBLE_EQ(step.compute_s, 6);
  EXPECT_DOUBLE_EQ(step.exposed_s, 2);
  EXPECT_DOUBLE_EQ(step.hidden_s, 4);
  EXPECT_DOUBLE_EQ(step.copy_s, 2);
  EXPECT_DOUBLE_EQ(step.idle_s, 3);
  EXPECT_DOUBLE_EQ(step.kind_s[static_cast<int>(WorkKind::product)], 4);
  EXPECT_DOUBLE_EQ(step.kind_s[static_cast<int>(WorkKind::communication)], 6);
}

TEST(CapturedSteps, IdleIsTheHostsWhereItsQueueWasEmpty) {
  const CapturedRank rank = captured_steps(profile_of({
      work(WorkKind::product, 0, 1, 0),
      work(WorkKind::product, 3, 4, 2.5),  // launched when the GPU was idle
      work(WorkKind::product, 6, 7, 3.5),  // launched long before: it waited for other work
      work(WorkKind::product, 9, 10),      // launch time unknown
  }));
  EXPECT_DOUBLE_EQ(rank.steps[0].idle_s, 6);
  EXPECT_DOUBLE_EQ(rank.steps[0].host_bound_s, 2);
}

TEST(CapturedSteps, AStepIsWhatTheHostLaunchesInItsAnnotation) {
  const CapturedRank rank = captured_steps(profile_of(
      {
          work(WorkKind::product, 1, 3, 0.5),
          work(WorkKind::product, 3, 5, 0.9),  // ends when the host is in the next step
          work(WorkKind::product, 5, 6, 1.5),
          work(WorkKind::product, 8, 9, 7),  // after the last annotation
      },
      {{"ProfilerStep#1", 0, 1}, {"ProfilerStep#2", 1, 2}, {"ProfilerStep#3", 2, 2.5}}));
  EXPECT_TRUE(rank.annotated);
  ASSERT_EQ(rank.steps.size(), 2u);  // the third step launches nothing
  EXPECT_EQ(rank.steps[0].name, "ProfilerStep#1");
  EXPECT_DOUBLE_EQ(rank.steps[0].begin_s, 1);
  EXPECT_DOUBLE_EQ(rank.steps[0].end_s, 5);
  EXPECT_DOUBLE_EQ(rank.steps[1].seconds(), 1);
}

// A GPU lags behind its host by the kernels in its queue: when the profiler begins, and the host is
// in the first step, the GPU still runs the step before.
TEST(CapturedSteps, WhatWasLaunchedBeforeTheCaptureIsOfNoStep) {
  const CapturedRank rank = captured_steps(profile_of(
      {
          work(WorkKind::product, 0.2, 3),  // launched before
          work(WorkKind::product, 3, 4, 0.5),
          work(WorkKind::product, 4, 5),  // its launch is missing: its neighbours give the step
          work(WorkKind::product, 5, 7, 1.5),
      },
      {{"ProfilerStep#1", 0, 1}, {"ProfilerStep#2", 1, 2}}));
  ASSERT_EQ(rank.steps.size(), 2u);
  EXPECT_EQ(rank.steps[0].begin_s, 3);
  EXPECT_EQ(rank.steps[0].seconds(), 2);
  EXPECT_EQ(rank.steps[1].seconds(), 2);
}

TEST(CapturedSteps, RangesInsideAStepAreNone) {
  const CapturedRank rank = captured_steps(profile_of(
      {work(WorkKind::product, 1, 3, 0.5), work(WorkKind::product, 3, 5, 3.5),
       work(WorkKind::product, 6, 9, 5.5)},
      {{"batch 0", 0, 2}, {"iteration 1", 0, 5}, {"batch 1", 3, 4}, {"iteration 2", 5, 9}}));
  ASSERT_EQ(rank.steps.size(), 2u);
  EXPECT_EQ(rank.steps[0].name, "iteration 1");
  EXPECT_DOUBLE_EQ(rank.steps[0].begin_s, 1);
  EXPECT_DOUBLE_EQ(rank.steps[0].end_s, 6);
  EXPECT_EQ(rank.steps[1].name, "iteration 2");
}

TEST(CapturedSteps, WithoutAnnotationsAStepEndsBehindTheOptimizer) {
  std::vector<GpuWork> all;
  for (int step = 0; step < 3; ++step) {
    const double at = step * 10;
    all.push_back(work(WorkKind::product, at, at + 5));
    all.push_back(work(WorkKind::optimizer, at + 5, at + 6));
    all.push_back(work(WorkKind::element_wise, at + 6, at + 6.5));
    all.push_back(work(WorkKind::optimizer, at + 7, at + 8));
  }
  const CapturedRank rank = captured_steps(profile_of(all));
  ASSERT_EQ(rank.steps.size(), 3u);
  EXPECT_DOUBLE_EQ(rank.steps[0].seconds(), 10);
  EXPECT_DOUBLE_EQ(rank.steps[2].seconds(), 8);
}

TEST(CapturedSteps, OfAMadeTraceAddUp) {
  const RankProfile profile = read_text(made_kineto({.tp = 2, .dp = 2, .steps = 5}));
  const CapturedRank rank = captured_steps(profile);
  ASSERT_EQ(rank.steps.size(), 5u);
  for (const CapturedStep& step : rank.steps) {
    EXPECT_NEAR(step.compute_s + step.exposed_s + step.copy_s + step.idle_s, step.seconds(), 1e-9);
    EXPECT_LE(step.host_bound_s, step.idle_s + 1e-9);
    const double kernels_s = std::accumulate(step.kind_s.begin(), step.kind_s.end(), 0.0);
    EXPECT_GE(kernels_s + 1e-9, step.compute_s + step.exposed_s);
    ASSERT_EQ(step.calls.size(), 2u);
    EXPECT_EQ(step.calls[0].count, 16);  // two per layer and pass
    EXPECT_EQ(step.calls[1].count, 4);
  }
}

TEST(CapturedSteps, TheMedianOfAnEvenNumberIsTheLonger) {
  const std::vector<CapturedStep> steps = {{.name = "a", .begin_s = 0, .end_s = 4},
                                           {.name = "b", .begin_s = 4, .end_s = 5}};
  EXPECT_EQ(median_step(steps).name, "a");
}

TEST(CapturedSteps, NoTimeAtAllIsNoStep) {
  EXPECT_THAT(error_of([] { captured_steps(profile_of({work(WorkKind::product, 1, 1)})); }),
              HasSubstr("no step takes any time"));
}

// The window of kernels does not show where a step ends.
TEST(ProfileLog, NeedsStepsOrAnOptimizer) {
  const std::string path = written_trace(
      trace_text(event_text("kernel", "gemm", 10, 5, "\"stream\": 7, \"device\": 0") + "," +
                 event_text("kernel", "gemm", 20, 5, "\"stream\": 7, \"device\": 0")),
      "unmarked.json");
  EXPECT_EQ(error_of([&] { profile_log(path); }),
            path +
                ": marks no steps, and there are no optimizer kernels that would separate steps; "
                "call step() of the profiler after each step");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace windtunnel
