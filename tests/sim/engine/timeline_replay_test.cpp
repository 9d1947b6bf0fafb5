// A Timeline is replayed with the speeds of a draw and compared with a run of the engine in which
// all ranks that the draw makes unlike are simulated.
#include "sim/engine/timeline_replay.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "models/results/iteration_report.hpp"
#include "policies/iteration.hpp"
#include "sim/engine/engine.hpp"
#include "tests/sim/engine/random_plan.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

constexpr FoldLimits kReplayAll = {.unlike_tasks = 0, .replayed_classes = 0};
constexpr FoldLimits kReplayNone = {.unlike_tasks = std::numeric_limits<double>::infinity()};

Timeline run(const RandomCase& random, FoldLimits limits) {
  EngineOptions options;
  options.calibration = ideal_calibration();
  options.fold_limits = limits;
  return execute(random.plan, random.cluster, options);
}

// Returns the largest difference over the times of all tasks and of the whole run.
double largest_difference(const Plan& plan, const Timeline& a, const Timeline& b) {
  double difference = std::abs(a.makespan_s - b.makespan_s);
  for (RankId rank = 0; rank < plan.ranks; ++rank) {
    const std::vector<Span>& of_a = a.ranks[a.recorded_as[rank]].spans;
    const std::vector<Span>& of_b = b.ranks[b.recorded_as[rank]].spans;
    for (size_t t = 0; t < of_a.size(); ++t) {
      difference = std::max({difference, std::abs(of_a[t].start_s - of_b[t].start_s),
                             std::abs(of_a[t].end_s - of_b[t].end_s)});
    }
  }
  return difference / b.makespan_s;
}

TEST(TimelineReplay, WithoutJitterIsTheTimeline) {
  for (int seed = 0; seed < 60; ++seed) {
    RandomCase random = RandomCaseMaker(20000 + seed).make();
    random.cluster.slow_nodes.clear();
    const Timeline steady = run(random, {});
    const Timeline again = replay(random.plan, random.cluster, steady, steady);
    EXPECT_LT(largest_difference(random.plan, again, steady), 1e-9) << "seed " << seed;
    EXPECT_FALSE(is_replayed(steady));
  }
}

// Waits for kernels must be exact: all unlike ranks are simulated, and transfers take almost no
// time.
TEST(TimelineReplay, WithoutNetworkIsTheEngine) {
  const Jitter laws[] = {{.sigma = 0.1},
                         {.bursts = {.good = 20, .bad = 5, .slowdown = 1.7}},
                         {.pareto = 3},
                         {.exponential = 0.2},
                         {.share = 0.3, .slowdown = 1.4}};
  int replayed = 0;
  for (int i = 0; i < 60; ++i) {
    RandomCase random = RandomCaseMaker(21000 + i).make();
    for (RankClass& owner : random.plan.classes) {
      for (Task& task : owner.tasks) {
        task.bytes *= 1e-7;
        for (Flow& flow : task.flows) flow.amount *= 1e-7;
      }
    }
    Jitter& jitter = random.cluster.jitter = laws[i % 5];
    jitter.per = i % 2 == 0 ? JitterPer::step : JitterPer::task;
    jitter.of = i % 4 < 2 ? JitterOf::gpu : JitterOf::node;
    random.plan.draw = i;
    if (i % 3 == 0) random.plan.in_step = random.tp;
    if (i % 7 == 0) jitter = {};
    if (i % 7 < 3) random.cluster.slow_nodes = {{0, 1.2}, {random.cluster.nodes - 1, 1.5}};
    const Timeline fast = run(random, kReplayAll);
    EXPECT_LT(largest_difference(random.plan, fast, run(random, kReplayNone)), 1e-6)
        << "case " << i;
    replayed += is_replayed(fast);
  }
  EXPECT_GT(replayed, 20);
}

struct JitteringShape {
  int tp, pp, dp, vpp;
  double oversubscription;
};

Job jittering_job(const JitteringShape& shape, const Jitter& jitter) {
  Job job = small_job(shape.tp, shape.pp, shape.dp, shape.vpp);
  job.cluster = small_cluster(job.layout.ranks() / 8, 8);
  FabricSpec& fabric = job.cluster.fabric;
  fabric.topology = Topology::fat_tree;
  fabric.nodes_per_pod = std::max(1, job.cluster.nodes / shape.pp);  // one stage
  fabric.pod_oversubscription = shape.oversubscription;
  job.communication.fidelity = Fidelity::flows;
  job.cluster.jitter = jitter;
  return job;
}

// Returns the ratios of step times, replayed over simulated, for the same draws.
std::vector<double> errors_of(const Job& job, int draws) {
  const PreparedIteration prepared = prepare_iteration(job);
  Plan plan = iteration_plan(job, prepared);
  const auto step_s = [&](const FoldLimits& limits) {
    EngineOptions options;
    options.calibration = job.calibration;
    options.fold_limits = limits;
    const Timeline timeline = execute(plan, job.cluster, options);
    EXPECT_EQ(is_replayed(timeline), limits.unlike_tasks == 0);
    return iteration_s(job, plan, timeline);
  };
  std::vector<double> errors;
  for (plan.draw = 0; plan.draw < draws; ++plan.draw) {
    errors.push_back(step_s(kReplayAll) / step_s(kReplayNone) - 1);
  }
  return errors;
}

// Each stage fills a pod, and all replicas share its links. docs/physics/cost.md and the note of a
// replayed run state the error that is tested here.
TEST(TimelineReplay, OnSharedLinksIsWithinItsStatedError) {
  const Jitter laws[] = {{.sigma = 0.02},
                         {.sigma = 0.1, .per = JitterPer::task},
                         {.pareto = 10},
                         {.share = 0.1, .slowdown = 1.3}};
  std::vector<double> all;
  for (const JitteringShape& shape :
       {JitteringShape{2, 4, 16, 1, 1}, JitteringShape{2, 4, 16, 1, 4},
        JitteringShape{1, 2, 32, 2, 4}, JitteringShape{2, 8, 8, 1, 7},
        JitteringShape{1, 1, 64, 1, 2}}) {
    for (const Jitter& law : laws) {
      const std::vector<double> errors = errors_of(jittering_job(shape, law), 4);
      std::string line;
      for (const double error : errors) line += fmt::format(" {:+.2f}", 100 * error);
      fmt::print("tp {} pp {} dp {} vpp {}, {} : 1: {} %\n", shape.tp, shape.pp, shape.dp,
                 shape.vpp, shape.oversubscription, line);
      all.insert(all.end(), errors.begin(), errors.end());
    }
  }
  double sum = 0, squares = 0;
  for (const double error : all) {
    sum += error;
    squares += error * error;
    EXPECT_LT(std::abs(error), 0.01);
  }
  const auto count = static_cast<double>(all.size());
  fmt::print("mean {:+.2f} %, root of mean square {:.2f} %\n", 100 * sum / count,
             100 * std::sqrt(squares / count));
  EXPECT_LT(std::abs(sum / count), 0.003);
}

TEST(TimelineReplay, IsTakenWhereTooManyTasksAreUnlike) {
  const Job job = jittering_job({2, 4, 16, 1, 1}, {.sigma = 0.02});
  const Plan plan = iteration_plan(job, prepare_iteration(job));
  const auto replayed = [&](FoldMode mode, double tasks) {
    EngineOptions options;
    options.calibration = job.calibration;
    options.fold = mode;
    options.fold_limits.unlike_tasks = tasks;
    return is_replayed(execute(plan, job.cluster, options));
  };
  EXPECT_FALSE(replayed(FoldMode::automatic, FoldLimits{}.unlike_tasks));
  EXPECT_TRUE(replayed(FoldMode::automatic, 1000));
  EXPECT_FALSE(replayed(FoldMode::exact, 1000));
}

}  // namespace
}  // namespace windtunnel
