#include "policies/outer/outer_period.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "policies/iteration.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

TEST(OuterPeriod, WhatTheStepsBesideItDoNotHideIsExposed) {
  Job job = small_job(1, 1, 8);
  job.layout.sync_groups = {8};
  job.sync.push_back({.over = "replica", .every_steps = 10});
  const PreparedIteration prepared = prepare_iteration(job);
  const auto exposed_s = [&](double delay_steps, double step_s) {
    job.sync[0].delay_steps = delay_steps;
    return sync_seconds(job, prepared, step_s).front().exposed_s;
  };
  const double whole_s = exposed_s(0, 1);
  EXPECT_GT(whole_s, 0);
  EXPECT_DOUBLE_EQ(sync_seconds(job, prepared, 1).front().exchange_s, whole_s);
  EXPECT_NEAR(exposed_s(3, whole_s / 4), whole_s / 4, 1e-12);
  EXPECT_EQ(exposed_s(4, whole_s / 4 * 1.001), 0);
  // The next exchange waits for this one to end, however late its result may be applied.
  job.sync[0].fragments = 5;
  EXPECT_DOUBLE_EQ(exposed_s(10, 0.001 * whole_s), exposed_s(2, 0.001 * whole_s));
}

TEST(OuterPeriod, TheMeanStepSpreadsItOverTheCycle) {
  Job job = small_job(1, 1, 8);
  job.layout.sync_groups = {8};
  job.sync.push_back({.over = "replica", .every_steps = 10, .fragments = 2});
  const PreparedIteration prepared = prepare_iteration(job);
  Job alone = job;
  alone.sync.clear();
  const double step_s = iteration_step_s(alone, prepared);
  const double exposed_s = sync_seconds(job, prepared, step_s).front().exposed_s;
  EXPECT_NEAR(iteration_step_s(job, prepared), step_s + exposed_s / 5, 1e-12);
  const IterationEstimate estimate = estimate_iteration(job, prepared);
  EXPECT_NEAR(estimate.step_s, step_s + exposed_s / 5, 1e-12);
  EXPECT_NEAR(estimate.seconds[static_cast<int>(Category::sync)], exposed_s / 5, 1e-12);
}

}  // namespace
}  // namespace windtunnel
