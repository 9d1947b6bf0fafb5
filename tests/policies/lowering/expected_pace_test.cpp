// Compares the expected waiting of ranks for each other, in closed form, with the mean of the
// engine's draws.
#include "policies/lowering/expected_pace.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "models/results/iteration_report.hpp"
#include "policies/iteration.hpp"
#include "sim/engine/engine.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

// Step times of `draws` draws in the engine.
std::vector<double> drawn_steps_s(const Job& job, const PreparedIteration& prepared, int draws) {
  std::vector<double> steps_s;
  Plan plan = iteration_plan(job, prepared);
  for (plan.draw = 0; plan.draw < draws; ++plan.draw) {
    const Timeline timeline = execute(plan, job.cluster, {.calibration = job.calibration});
    steps_s.push_back(iteration_s(job, plan, timeline));
  }
  return steps_s;
}

Job jittering_job(int tp, int pp, int dp, Fidelity fidelity, const Jitter& jitter) {
  Job job = small_job(tp, pp, dp);
  const int gpus = std::min(8, job.layout.ranks());
  job.cluster = small_cluster(job.layout.ranks() / gpus, gpus);
  job.batch.global = 8 * dp;
  job.communication.overlap = GradientOverlap::bucketed;
  job.communication.fidelity = fidelity;
  job.cluster.jitter = jitter;
  return job;
}

struct Law {
  std::string name;
  Jitter jitter;
  // The largest error that docs/physics/cost.md states, as a share of what jitter adds; 0.3 % of
  // the step are allowed as well.
  double off = 0;
};
const std::vector<Law>& laws() {
  static const std::vector<Law> all = {
      {"sigma 0.02 per step", {.sigma = 0.02}},
      {"sigma 0.05 per node and step", {.sigma = 0.05, .of = JitterOf::node}},
      {"sigma 0.1 per task", {.sigma = 0.1, .per = JitterPer::task}},
      {"1 % 1.3 times as slow per step", {.share = 0.01, .slowdown = 1.3}},
      {"bursts per task",
       {.bursts = {.good = 300, .bad = 10, .slowdown = 1.5}, .per = JitterPer::task},
       0.2}};
  return all;
}

// The closed form must lie within the interval of that mean, widened by half because twenty are
// tested.
TEST(ExpectedPace, IsTheMeanOfTheEnginesDraws) {
  constexpr int kDraws = 40;
  for (const Law& law : laws()) {
    for (const Fidelity fidelity : {Fidelity::closed, Fidelity::flows}) {
      std::string line;
      for (const auto& [tp, pp, dp] : {std::tuple{1, 1, 32}, {1, 4, 8}, {4, 2, 8}, {2, 8, 4}}) {
        Job job = jittering_job(tp, pp, dp, fidelity, law.jitter);
        const PreparedIteration prepared = prepare_iteration(job);
        const double expected_s = estimate_iteration(job, prepared).step_s;
        const Estimate drawn = estimate(drawn_steps_s(job, prepared, kDraws));
        job.cluster.jitter = {};
        const double steady_s = drawn_steps_s(job, prepared, 1).front();
        const double unsure = 1.5 * (drawn.high - drawn.mean) + 0.003 * drawn.mean;
        EXPECT_NEAR(expected_s, drawn.mean, unsure + law.off * (drawn.mean - steady_s))
            << law.name << ": " << tp << " x " << pp << " x " << dp;
        line += fmt::format("  {} x {} x {}: {:+.2f} % (+-{:.2f}) of +{:.2f} %", tp, pp, dp,
                            100 * (expected_s / drawn.mean - 1),
                            100 * (drawn.high / drawn.mean - 1), 100 * (drawn.mean / steady_s - 1));
      }
      fmt::print("{}, {}: {}\n", law.name, fidelity == Fidelity::flows ? "flows" : "closed", line);
    }
  }
}

TEST(ExpectedPace, WithoutJitterOnlySlowNodesCount) {
  Job job = jittering_job(1, 4, 8, Fidelity::closed, {});
  const PreparedIteration prepared = prepare_iteration(job);
  const double steady_s = estimate_iteration(job, prepared).step_s;
  job.cluster.jitter = {.per = JitterPer::task, .of = JitterOf::node, .draws = 30, .seed = 5};
  EXPECT_EQ(estimate_iteration(job, prepared).step_s, steady_s);
  job.cluster.jitter.share = 1;  // all nodes are slow
  job.cluster.jitter.slowdown = 1.5;
  const double all_s = estimate_iteration(job, prepared).step_s;
  job.cluster.jitter = {};
  for (int node = 0; node < job.cluster.nodes; ++node)
    job.cluster.slow_nodes.push_back({node, 1.5});
  EXPECT_NEAR(all_s, estimate_iteration(job, prepared).step_s, 1e-12 * all_s);
}

// Ranks with sequences of unequal length wait for each other in every round.
TEST(ExpectedPace, OfUnequalLengthsIsTheMeanOfTheDraws) {
  Job job = jittering_job(2, 1, 8, Fidelity::closed, {.sigma = 0.05, .draws = 20});
  job.lengths = UnequalLengths{};
  job.lengths->distribution = {.median = 300, .longest = 1024};
  job.batch.global = 64;
  const PreparedIteration prepared = prepare_iteration(job);
  const Estimate drawn = estimate(drawn_steps_s(job, prepared, 20));
  EXPECT_NEAR(estimate_iteration(job, prepared).step_s, drawn.mean, 0.003 * drawn.mean);
}

}  // namespace
}  // namespace windtunnel
