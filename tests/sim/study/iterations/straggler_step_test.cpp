#include "sim/study/iterations/straggler_step.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "policies/iteration.hpp"
#include "sim/study/iterations/iteration_table.hpp"
#include "sim/study/iterations/sync_window.hpp"
#include "tests/support/pool_job.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

using enum RedundancyScheme;

Job job_with(const Redundancy& redundancy, int dp = 16, int pp = 1) {
  Job job = small_job(1, pp, dp);
  job.communication.fidelity = Fidelity::closed;
  job.redundancy = std::make_shared<const Redundancy>(redundancy);
  return job;
}

DrawnIteration drawn_of(const Job& job) {
  return run_draws(job, prepare_iteration(job));
}

// The closed form is compared with the engine, which draws the same law for each rank and lets all
// wait for the slowest.
TEST(StragglerStep, WaitingForAllIsWhatTheEngineDraws) {
  for (const int pp : {1, 4}) {
    Job job = job_with({}, 16 / pp, pp);
    job.cluster.jitter = {.sigma = 0.05, .draws = 60};
    const DrawnIteration own = drawn_of(job);
    job.redundancy = nullptr;
    const Estimate engine = run_draws(job, prepare_iteration(job)).step_s;
    job.cluster.jitter = {};
    const double calm_s = drawn_of(job).step_s.mean;
    // The error is at most a tenth of the time that stragglers add. In a pipeline it is at most a
    // fifth, because the ranks between the first and the last are taken to be alike.
    const double cost_s = engine.mean - calm_s;
    EXPECT_GT(cost_s, 0.02 * calm_s);
    EXPECT_NEAR(own.step_s.mean, engine.mean,
                (pp == 1 ? 0.1 : 0.2) * cost_s + (engine.high - engine.mean))
        << pp;
    EXPECT_NEAR(own.stragglers->waiting_s, own.step_s.mean, 1e-3 * calm_s);
  }
}

// Redundant load is that many more micro-batches, with their kernels, messages and host time, but
// with one exchange of gradients.
TEST(StragglerStep, ALoadIsMoreMicrobatches) {
  for (const int pp : {1, 2, 4}) {
    for (const int tp : {1, 4}) {
      for (const int copies : {2, 4}) {
        Job job = small_job(tp, pp, 8);
        job.communication.fidelity = Fidelity::closed;
        job.redundancy =
            std::make_shared<const Redundancy>(Redundancy{.scheme = replicated, .copies = copies});
        const DrawnIteration own = drawn_of(job);
        EXPECT_EQ(own.stragglers->load, copies);
        job.redundancy = nullptr;
        job.batch.global *= copies;
        const double all_s = drawn_of(job).step_s.mean;
        EXPECT_NEAR(own.step_s.mean, all_s, 0.01 * all_s) << pp << " " << tp << " " << copies;
      }
    }
  }
}

TEST(StragglerStep, SlowNodesAreLeftOut) {
  Job job = job_with({.scheme = drop_slowest, .stragglers = 4});
  const double calm_s = drawn_of(job).step_s.mean;
  job.cluster.slow_nodes = {{1, 3.0}};  // four of sixteen replicas are slow
  const DrawnIteration left_out = drawn_of(job);
  EXPECT_NEAR(left_out.step_s.mean, calm_s, 1e-9 * calm_s);
  EXPECT_GT(left_out.stragglers->waiting_s, 1.5 * calm_s);
  EXPECT_EQ(left_out.stragglers->missing, 4);
  EXPECT_EQ(left_out.stragglers->gradient_share, 0.75);
  job = job_with({.scheme = drop_slowest, .stragglers = 3});
  job.cluster.slow_nodes = {{1, 3.0}};
  EXPECT_NEAR(drawn_of(job).step_s.mean, left_out.stragglers->waiting_s, 1e-6 * calm_s);
}

TEST(StragglerStep, TheReportsPartsAreItsStep) {
  Job job = job_with({.scheme = m_sgc, .window = 3, .distinct = 6, .tolerance = 1});
  job.cluster.jitter = {.bursts = {.good = 40, .bad = 2, .slowdown = 3}};
  const PreparedIteration prepared = prepare_iteration(job);
  const DrawnIteration drawn = run_draws(job, prepared);
  IterationReport report = iteration_report(
      job, {1e15, 1e15}, prepared.memory, drawn.execution.plan, drawn.execution.timeline,
      critical_path(drawn.execution.plan, drawn.execution.timeline));
  const double plain_s = report.time_s;
  add_stragglers(report, *drawn.stragglers);
  EXPECT_GT(report.time_s, plain_s);
  EXPECT_DOUBLE_EQ(report.time_s, drawn.stragglers->step_s.mean);
  double path_s = 0;
  for (const double seconds : report.critical_path_s) path_s += seconds;
  double origin_s = 0;
  for (const double seconds : report.origin_s) origin_s += seconds;
  EXPECT_NEAR(path_s, report.time_s, 1e-9 * report.time_s);
  EXPECT_NEAR(origin_s, report.time_s, 1e-9 * report.time_s);
  EXPECT_GT(drawn.stragglers->exchange_s, 0);
  EXPECT_EQ(drawn.stragglers->delay_steps, 2);
}

TEST(StragglerStep, FurtherGradientsTakeMemory) {
  const Job plain = small_job(1, 1, 16);
  const Job coded = job_with({.scheme = m_sgc, .window = 3, .distinct = 6, .tolerance = 1});
  const double one = prepare_iteration(plain).memory.front().gradients;
  EXPECT_DOUBLE_EQ(prepare_iteration(coded).memory.front().gradients, 3 * one);
  EXPECT_DOUBLE_EQ(
      prepare_iteration(job_with({.scheme = gradient_coding})).memory.front().gradients, one);
}

// Returns the factor by which stragglers lengthen a step, relative to a step in which all compute
// equally fast.
double longer(Job job) {
  const DrawnIteration drawn = drawn_of(job);
  job.cluster.jitter = {};
  return (drawn.step_s.mean - drawn_of(job).step_s.mean) / drawn.stragglers->work_s;
}

// Replicas that gather weights from each other, or share experts, wait for each other within
// passes, so they count as one worker, as the ranks of a replica do.
TEST(StragglerStep, ReplicasThatWaitForEachOtherAreOneWorker) {
  const Redundancy without_one{.scheme = drop_slowest, .stragglers = 1};
  Job replicas = job_with(without_one, 8);
  replicas.layout.tp = 2;
  replicas.cluster = small_cluster(4, 4);
  replicas.cluster.jitter = {.exponential = 0.2};
  const double expected = longer(replicas);
  Job shards = job_with(without_one, 16);
  shards.cluster.jitter = replicas.cluster.jitter;
  const double alone = longer(shards);
  shards.layout.sharding = Sharding::zero3;
  shards.layout.shard_ranks = 2;
  EXPECT_NEAR(longer(shards), expected, 1e-9);
  EXPECT_GT(alone, expected) << "one GPU is left out in place of two";
  Job experts = job_with(without_one, 16);
  experts.cluster.jitter = replicas.cluster.jitter;
  experts.model.moe.experts = 8;
  experts.model.moe.per_token = 1;
  experts.model.moe.ffn_hidden = 4096;
  experts.layout.ep = 2;
  EXPECT_NEAR(longer(experts), expected, 1e-9);
  experts.layout.ep = 8;  // two workers, one of which is waited for
  EXPECT_EQ(drawn_of(experts).stragglers->gradient_share, 0.5);
}

// A coded step of an island equals that of a job as large as the island. Such islands drift apart
// less than islands that wait for all of their workers.
TEST(StragglerStep, IslandsMakeUpForStragglersOfTheirOwn) {
  const Redundancy without_two{.scheme = drop_slowest, .stragglers = 2};
  Job one = job_with(without_two, 8);
  one.cluster.jitter = {.exponential = 0.2};
  Job islands = job_with(without_two, 16);
  islands.cluster.jitter = one.cluster.jitter;
  islands.layout.sync_groups = {2};
  islands.sync.push_back({.over = "islands", .every_steps = 32});
  EXPECT_NEAR(longer(islands), longer(one), 1e-9);
  const auto drift_s = [](const Job& job) {
    return measure_sync(job, prepare_iteration(job), drawn_of(job)).front().wait_s;
  };
  const double coded_s = drift_s(islands);
  islands.redundancy = std::make_shared<const Redundancy>();
  EXPECT_GT(coded_s, 0);
  EXPECT_LT(coded_s, drift_s(islands));
}

// One island has two slow nodes, but its code makes up for only one, so its steps are longer than
// the others'. An exchange that leaves it out, or that does not wait, is not delayed by them.
TEST(StragglerStep, AnIslandThatItsCodeDoesNotHelpIsLeftOut) {
  Job job = job_with({.scheme = drop_slowest, .stragglers = 1}, 32);
  job.layout.sync_groups = {4};
  job.sync.push_back({.over = "islands", .every_steps = 16});
  const auto step_s = [&](int slow_nodes, int missing, SyncPattern pattern) {
    Job own = job;
    own.cluster.jitter.of = JitterOf::node;
    for (int node = 0; node < slow_nodes; ++node) own.cluster.slow_nodes.push_back({node, 1.5});
    own.sync[0].missing_islands = missing;
    own.sync[0].pattern = pattern;
    const DrawnIteration drawn = drawn_of(own);
    const auto levels = measure_sync(own, prepare_iteration(own), drawn);
    return mean_step(own.sync, levels, drawn.step_s.mean).all_s;
  };
  constexpr auto kAll = SyncPattern::all_reduce;
  ASSERT_GE(job.cluster.nodes, 4);
  EXPECT_NEAR(step_s(0, 1, kAll), step_s(0, 0, kAll), 1e-6 * step_s(0, 0, kAll));
  EXPECT_GT(step_s(2, 0, kAll), 1.1 * step_s(0, 0, kAll));
  EXPECT_LT(step_s(2, 1, kAll), 0.95 * step_s(2, 0, kAll));
  EXPECT_LT(step_s(2, 0, SyncPattern::none), 0.95 * step_s(2, 0, kAll));
}

// At an exchange islands wait for the slowest sum of steps; within a step an island waits only for
// its own slowest GPU.
TEST(StragglerStep, IslandsDriftApart) {
  Job job = small_job(1, 1, 16);
  job.communication.fidelity = Fidelity::closed;
  job.layout.sync_groups = {8};
  job.sync.push_back({.over = "islands", .every_steps = 64});
  const double calm_s = drawn_of(job).step_s.mean;
  job.cluster.jitter = {.sigma = 0.1};
  const DrawnIteration drawn = drawn_of(job);
  ASSERT_TRUE(drawn.stragglers.has_value());
  const double work_s = drawn.stragglers->work_s;
  const double island = expected_factor(job.cluster.jitter, 2, 2);
  EXPECT_NEAR(drawn.step_s.mean, calm_s + work_s * (island - 1), 1e-3 * calm_s);
  const auto levels = measure_sync(job, prepare_iteration(job), drawn);
  const double mean_s = mean_step(job.sync, levels, drawn.step_s.mean).all_s;
  const double exposed_s = levels[0].exposed_s / 64;
  EXPECT_GT(levels[0].wait_s, 0);
  // Drifting apart costs less than half of what waiting in each step costs.
  const double cost_s = drawn.stragglers->waiting_s - drawn.step_s.mean;
  EXPECT_LT(mean_s - exposed_s - drawn.step_s.mean, 0.5 * cost_s);
  // The fewer islands an exchange waits for, the shorter the wait, and the more islands are late.
  double last_s = levels[0].wait_s;
  double last_late = 0;
  for (const int missing : {1, 2, 4}) {
    job.sync[0].missing_islands = missing;
    const auto own = measure_sync(job, prepare_iteration(job), drawn);
    EXPECT_LT(own[0].wait_s, last_s) << missing;
    EXPECT_GT(own[0].late, last_late) << missing;
    last_s = own[0].wait_s;
    last_late = own[0].late;
  }
}

// If islands are alike, waiting for all pays; if one stops now and then, leaving it out pays.
TEST(StragglerStep, ADynamicNumberIsTheOneThatPays) {
  Job job = small_job(1, 1, 16);
  job.communication.fidelity = Fidelity::closed;
  job.layout.sync_groups = {8};
  job.sync.push_back({.over = "islands", .every_steps = 20, .chooses_missing = true});
  const auto left_out = [&](const Jitter& jitter) {
    job.cluster.jitter = jitter;
    const DrawnIteration drawn = drawn_of(job);
    const int number = measure_sync(job, prepare_iteration(job), drawn)[0].left_out;
    const auto step_s = [&](int missing) {
      Job fixed = job;
      fixed.sync[0].chooses_missing = false;
      fixed.sync[0].missing_islands = missing;
      const auto levels = measure_sync(fixed, prepare_iteration(fixed), drawn);
      return mean_step(fixed.sync, levels, drawn.step_s.mean).all_s;
    };
    for (int missing = 0; missing < 8; ++missing) EXPECT_GE(step_s(missing), step_s(number));
    return number;
  };
  EXPECT_EQ(left_out({.sigma = 0.05}), 0);
  EXPECT_GE(left_out({.share = 0.001, .slowdown = 500}), 1);
}

// Without the replicas on slow nodes a step is as long as on fast nodes; with them each round is as
// long as theirs.
TEST(StragglerStep, ReplicasOnSlowPoolsAreLeftOut) {
  Job job = pool_job(PoolAxis::dp);
  job.layout.pp = 1;
  job.layout.dp = 8;
  job.batch.global = 8 * job.batch.micro;
  job.communication.fidelity = Fidelity::closed;
  Cluster& cluster = job.cluster;
  const GpuSpec slow = cluster.pools[1].node.gpu;
  cluster.pools[1].node = cluster.pools[0].node;
  cluster.pools[1].node.gpu = slow;  // with equal links
  cluster.node = cluster.shared = shared_node(cluster.pools);
  const double slow_s = drawn_of(job).step_s.mean;
  Job fast = job;
  fast.cluster.pools[1].node = fast.cluster.pools[0].node;
  const double fast_s = drawn_of(fast).step_s.mean;
  ASSERT_GT(slow_s, 1.6 * fast_s);
  job.redundancy =
      std::make_shared<const Redundancy>(Redundancy{.scheme = drop_slowest, .stragglers = 4});
  const DrawnIteration left_out = drawn_of(job);
  // The optimizer's step, some hundredths of the passes, is scaled like the passes.
  EXPECT_NEAR(left_out.step_s.mean, fast_s, 0.02 * fast_s);
  EXPECT_NEAR(left_out.stragglers->waiting_s, slow_s, 1e-9 * slow_s);
  EXPECT_EQ(left_out.stragglers->missing, 4);
  job.redundancy =
      std::make_shared<const Redundancy>(Redundancy{.scheme = drop_slowest, .stragglers = 3});
  EXPECT_NEAR(drawn_of(job).step_s.mean, slow_s, 1e-9 * slow_s);
}

}  // namespace
}  // namespace windtunnel
