#include "sim/study/iterations/sync_window.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/base/random.hpp"
#include "policies/iteration.hpp"
#include "sim/study/iterations/iteration_table.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

template <typename T>
T pick(RandomStream& random, std::initializer_list<T> values) {
  return values.begin()[random.below(values.size())];
}

Job random_job(std::uint64_t number) {
  RandomStream random(24, RandomPurpose::test, number);
  const int pp = pick(random, {1, 2});
  Job job = small_job(pick(random, {1, 2}), pp, 8, 1);
  job.layout.sharding = pick(random, {Sharding::none, Sharding::zero1, Sharding::zero3});
  job.communication.fidelity = Fidelity::closed;
  const std::vector<int> islands = pick<std::vector<int>>(random, {{2}, {4}, {8}, {2, 2}});
  job.layout.sync_groups = islands;
  for (std::size_t level = 0; level < islands.size(); ++level) {
    job.sync.push_back({.over = "islands",
                        .every_steps = 50.0 * (level + 1),
                        .fragments = pick(random, {1, 5}),
                        .delay_steps = double(pick(random, {0, 0, 1, 3, 10}))});
    SyncLevel& own = job.sync.back();
    own.compressor.name = pick(random, {"none", "none", "int8", "int4"});
    own.optimizer = pick(random, {OuterOptimizer::average, OuterOptimizer::nesterov});
  }
  // NICs range from fast ones that hide an exchange entirely to slow ones at which it is far longer
  // than a step.
  job.cluster.node.nic_Bps.value = pick(random, {25e9, 1e9, 50e6});
  return job;
}

double step_s(const Job& job, const PreparedIteration& prepared) {
  return run_draws(job, prepared).step_s.mean;
}

// CO2's law, with the exchange's own time in closed form, is compared with simulated steps that run
// during the exchange.
TEST(SyncWindow, ExposesWhatTheStepsDoNotHide) {
  int exposed = 0;
  int hidden = 0;
  for (std::uint64_t number = 0; number < 60; ++number) {
    const Job job = random_job(number);
    const PreparedIteration prepared = prepare_iteration(job);
    const double inner_s = step_s(job, prepared);
    const auto closed = sync_seconds(job, prepared, inner_s);
    const auto simulated = measure_sync(job, prepared, run_draws(job, prepared));
    for (std::size_t level = 0; level < closed.size(); ++level) {
      EXPECT_NEAR(simulated[level].exposed_s, closed[level].exposed_s,
                  1e-6 * (inner_s + closed[level].exchange_s))
          << "job " << number << ", level " << level;
      ++(closed[level].exposed_s > 0 ? exposed : hidden);
    }
  }
  EXPECT_GT(exposed, 20);
  EXPECT_GT(hidden, 10);
}

// With this many steps only some are simulated, and they stand for all.
TEST(SyncWindow, ManyHidingStepsAreAsAFew) {
  Job job = small_job(1, 1, 8);
  job.communication.fidelity = Fidelity::closed;
  job.layout.sync_groups = {8};
  job.sync.push_back({.over = "islands", .every_steps = 400, .delay_steps = 300});
  job.cluster.node.nic_Bps.value = 1e6;
  const PreparedIteration prepared = prepare_iteration(job);
  const double inner_s = step_s(job, prepared);
  const double closed_s = sync_seconds(job, prepared, inner_s).front().exposed_s;
  ASSERT_GT(closed_s, 0);
  EXPECT_NEAR(measure_sync(job, prepared, run_draws(job, prepared)).front().exposed_s, closed_s,
              1e-6 * closed_s);
}

// A step with an exchange is compared with a step of the same draw.
TEST(SyncWindow, StragglersAreNoPartOfIt) {
  Job job = small_job(1, 1, 8);
  job.communication.fidelity = Fidelity::closed;
  job.layout.sync_groups = {8};
  job.sync.push_back({.over = "islands", .every_steps = 50});
  job.cluster.jitter.sigma = 0.3;
  job.cluster.jitter.draws = 2;
  const PreparedIteration prepared = prepare_iteration(job);
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    job.cluster.jitter.seed = seed;
    const SyncSeconds simulated = measure_sync(job, prepared, run_draws(job, prepared)).front();
    // Stragglers slow the exchange's kernels by less than a factor of two; these are a fifth of its
    // time.
    EXPECT_GE(simulated.exposed_s, simulated.exchange_s * (1 - 1e-9)) << seed;
    EXPECT_LT(simulated.exposed_s, simulated.exchange_s * 1.3) << seed;
  }
}

// Islands of one replica have nothing to shard.
TEST(SyncWindow, LayersGoAsTheyWouldWithoutSharding) {
  Job job = small_job(1, 1, 8);
  job.layout.sync_groups = {8};
  job.sync.push_back({.over = "replica", .every_steps = 50, .start = SyncStart::layers});
  const auto exposed_s = [&](Sharding sharding) {
    job.layout.sharding = sharding;
    const PreparedIteration prepared = prepare_iteration(job);
    return measure_sync(job, prepared, run_draws(job, prepared)).front().exposed_s;
  };
  const double whole_s = exposed_s(Sharding::none);
  EXPECT_GT(whole_s, 0);
  EXPECT_NEAR(exposed_s(Sharding::zero3), whole_s, 1e-6 * whole_s);
}

TEST(SyncWindow, ASlowNodeIsSlowBesideExchangesToo) {
  Job job = small_job(1, 1, 8);
  job.layout.sync_groups = {8};
  job.cluster.node.nic_Bps.value = 50e6;
  job.sync.push_back({.over = "replica", .every_steps = 10});
  job.failures.push_back({.name = "slow", .kind = FailureKind::slow_node, .slowdown = 2});
  const CampaignIterations all = campaign_iterations(job, prepare_iteration(job));
  const double plain_s = all.plain.step_s.mean;
  const double added_s = all.table.iteration_s.front() - plain_s;
  EXPECT_GT(added_s, plain_s);
  EXPECT_GT(all.table.slow_iteration_s.front(), added_s + 1.5 * plain_s);
}

// Pipeline messages cross the same NICs as a simultaneous exchange of islands.
TEST(SyncWindow, StepsBesideAnExchangeShareItsLinks) {
  Job job = small_job(1, 4, 4);
  job.cluster = small_cluster(16, 1);
  job.cluster.node.nic_Bps.value = 1e9;
  job.layout.sync_groups = {4};
  job.communication.fidelity = Fidelity::flows;
  job.sync = {{.over = "replica", .every_steps = 50, .delay_steps = 50}};
  const PreparedIteration prepared = prepare_iteration(job);
  const DrawnIteration plain = run_draws(job, prepared);
  const double inner_s = plain.step_s.mean;
  const double closed_s = sync_seconds(job, prepared, inner_s).front().exposed_s;
  EXPECT_EQ(closed_s, 0);
  EXPECT_GT(measure_sync(job, prepared, plain).front().exposed_s, 0.01 * inner_s);
}

}  // namespace
}  // namespace windtunnel
