// Tests of programs that a single controller has the hosts start: a step's time in closed form, in
// the engine, and by those rules that need neither.
#include "policies/evaluation/dispatch.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "models/results/iteration_report.hpp"
#include "policies/iteration.hpp"
#include "sim/engine/engine.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

template <typename T>
T one_from(RandomStream& random, std::initializer_list<T> values) {
  return values.begin()[random.below(values.size())];
}

double dispatched_engine_s(const Job& job, const PreparedIteration& prepared, int draw = 0) {
  Plan plan = iteration_plan(job, prepared);
  plan.draw = draw;
  validate_plan(plan);
  return iteration_s(job, plan, execute(plan, job.cluster, {.calibration = job.calibration}));
}

double dispatched_estimate_s(const Job& job) {
  return estimate_iteration(job, prepare_iteration(job)).step_s;
}

Job dispatched_job(RandomStream& random) {
  const int pp = one_from(random, {1, 2, 4});
  Job job = small_job(one_from(random, {1, 2}), pp, one_from(random, {1, 2, 4}));
  const int gpus = std::min(4, job.layout.ranks());
  job.cluster = small_cluster(job.layout.ranks() / gpus, gpus);
  job.batch.global = job.layout.dp * (1 + static_cast<int>(random.below(6)));
  job.batch.sequence = 1024;
  job.schedule.name = pp > 1 ? one_from(random, {"1f1b", "gpipe", "zb-h1"}) : "1f1b";
  job.layout.sharding = one_from(random, {Sharding::none, Sharding::zero1});
  job.communication.overlap = one_from(
      random, {GradientOverlap::none, GradientOverlap::bucketed, GradientOverlap::blocking});
  job.communication.fidelity = Fidelity::closed;
  job.software.sends = one_from(random, {Sends::asynchronous, Sends::blocking});
  return job;
}

// The latency is drawn around the time behind which it hides.
TEST(Dispatch, ClosedFormAndEngineAgree) {
  std::set<std::pair<DispatchMode, bool>> hidden;
  for (int i = 0; i < 200; ++i) {
    RandomStream random(61, RandomPurpose::test, i);
    Job job = dispatched_job(random);
    const double free_s = dispatched_estimate_s(job);
    Software& software = job.software;
    software.dispatch_mode =
        one_from(random, {DispatchMode::asynchronous, DispatchMode::synchronous});
    software.dispatch_program = one_from(random, {DispatchProgram::step, DispatchProgram::pass});
    const bool pass = software.dispatch_program == DispatchProgram::pass;
    if (pass) software.dispatch_gang = one_from(random, {DispatchGang::none, DispatchGang::all});
    const double programs = pass ? 2.0 * job.batch.global / job.layout.dp : 1;
    software.dispatch_latency_s = free_s / programs * 2 * random.uniform();
    const PreparedIteration prepared = prepare_iteration(job);
    const IterationEstimate estimate = estimate_iteration(job, prepared);
    const double parts_s = std::accumulate(estimate.seconds.begin(), estimate.seconds.end(), 0.0);
    EXPECT_NEAR(dispatched_engine_s(job, prepared), estimate.step_s, 1e-6 * estimate.step_s) << i;
    EXPECT_NEAR(iteration_step_s(job, prepared), estimate.step_s, 1e-12 * estimate.step_s) << i;
    EXPECT_NEAR(parts_s, estimate.step_s, 1e-9 * estimate.step_s) << i;
    EXPECT_GE(estimate.step_s, free_s * (1 - 1e-12)) << i;
    hidden.emplace(software.dispatch_mode, estimate.step_s < free_s * (1 + 1e-9));
  }
  EXPECT_TRUE(hidden.contains({DispatchMode::asynchronous, true}));
  EXPECT_TRUE(hidden.contains({DispatchMode::asynchronous, false}));
  EXPECT_FALSE(hidden.contains({DispatchMode::synchronous, true}));
}

// A step takes the longer of its kernels and its dispatches, or their sum.
TEST(Dispatch, IsHiddenWhileAStepIsLonger) {
  Job job = small_job(1, 4, 2);
  job.batch.global = 16;
  const double free_s = dispatched_estimate_s(job);
  for (const double latency_s : {0.1 * free_s, 0.999 * free_s, 1.7 * free_s}) {
    job.software.dispatch_latency_s = latency_s;
    job.software.dispatch_mode = DispatchMode::asynchronous;
    EXPECT_DOUBLE_EQ(dispatched_estimate_s(job), std::max(free_s, latency_s));
    job.software.dispatch_mode = DispatchMode::synchronous;
    EXPECT_DOUBLE_EQ(dispatched_estimate_s(job), free_s + latency_s);
  }
}

// On one rank dispatches follow one another. In a pipeline of p ranks those on the longest path of
// m micro-batches count, two for each of m + p - 1.
TEST(Dispatch, OfEveryPassAddsUpWhereItIsSynchronous) {
  for (const int pp : {1, 2, 4}) {
    Job job = small_job(1, pp, 1);
    job.batch.global = 8;
    job.model.vocabulary = 128;  // makes stages equally long
    job.schedule.name = "gpipe";
    const double free_s = dispatched_estimate_s(job);
    job.software.dispatch_latency_s = 0.5;  // far above the differences of stages
    job.software.dispatch_program = DispatchProgram::pass;
    EXPECT_DOUBLE_EQ(dispatched_estimate_s(job), std::max(free_s, 16 * 0.5));
    job.software.dispatch_mode = DispatchMode::synchronous;
    EXPECT_NEAR(dispatched_estimate_s(job), free_s + 2 * (8 + pp - 1) * 0.5, 1e-3);
  }
}

// Over several iterations, work that is dispatched ahead of a step hides behind the previous step.
TEST(Dispatch, GoesOnFromStepToStep) {
  Job job = small_job(1, 2, 2);
  job.communication.fidelity = Fidelity::closed;
  const double free_s = dispatched_estimate_s(job);
  for (const double latency_s : {0.5 * free_s, 2 * free_s}) {
    job.software.dispatch_latency_s = latency_s;
    const PreparedIteration prepared = prepare_iteration(job);
    const Plan plan = iteration_plan(job, prepared, {.iterations = 4});
    const Timeline timeline = execute(plan, job.cluster, {.calibration = job.calibration});
    EXPECT_NEAR(foreground_end_s(plan, timeline, 3), 4 * std::max(free_s, latency_s),
                1e-6 * free_s);
  }
}

// If ranks are randomly late, waiting for more ranks in every pass takes longer.
TEST(Dispatch, AGangWaitsForItsLastRank) {
  Job job = small_job(1, 2, 8);
  job.cluster = small_cluster(16, 1);
  job.cluster.fabric.topology = Topology::sites;
  job.cluster.fabric.sites = {{.name = "a", .nodes = 4},
                              {.name = "b", .nodes = 4},
                              {.name = "c", .nodes = 4},
                              {.name = "d", .nodes = 4}};
  job.cluster.fabric.wan_Bps = spec(100e9);
  job.batch.global = 64;
  job.communication.fidelity = Fidelity::closed;
  job.software.dispatch_program = DispatchProgram::pass;
  const auto mean_s = [&](DispatchGang gang) {
    job.software.dispatch_gang = gang;
    const PreparedIteration prepared = prepare_iteration(job);
    double sum_s = 0;
    for (int draw = 0; draw < 20; ++draw) sum_s += dispatched_engine_s(job, prepared, draw) / 20;
    const double expected_s = estimate_iteration(job, prepared).step_s;
    EXPECT_NEAR(expected_s, sum_s, 0.02 * sum_s) << int(gang);
    return sum_s;
  };
  const double steady_s = mean_s(DispatchGang::none);
  EXPECT_NEAR(mean_s(DispatchGang::all), steady_s, 1e-6 * steady_s);
  job.cluster.jitter = {.sigma = 0.1, .per = JitterPer::task};
  const double none_s = mean_s(DispatchGang::none);
  const double island_s = mean_s(DispatchGang::island);
  const double all_s = mean_s(DispatchGang::all);
  EXPECT_GT(island_s, 1.01 * none_s);
  EXPECT_GT(all_s, 1.01 * island_s);
}

TEST(Dispatch, RefusesWhatHasNoEndOfAStep) {
  Job job = small_job(1, 2, 2);
  job.software.dispatch_latency_s = 1e-3;
  job.software.post_validation = true;
  try {
    prepare_iteration(job);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what())
                  .find("programs are dispatched step by step, one step after the other"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace windtunnel
