#include "sim/study/iterations/pool_state.hpp"

#include <gtest/gtest.h>

#include "models/cost/memory/memory.hpp"
#include "models/cost/snapshot/snapshot_cost.hpp"
#include "policies/iteration.hpp"
#include "tests/support/pool_job.hpp"

namespace windtunnel {
namespace {

const SnapshotTier kHost{.place = SnapshotPlace::host_memory, .every_iterations = 10};

TEST(PoolState, OfNodesThatAreAlikeIsOne) {
  const Job job = pool_job(PoolAxis::none);
  const PreparedIteration prepared = prepare_iteration(job);
  const std::vector<PoolState> states = states_by_pool(job, prepared);
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0].pool, -1);
  const SavedState saved = saved_state(
      snapshot_bytes_per_gpu(job, prepared.chunks, held_stages(prepared.schedule)), job.layout);
  const RestoreTimes times = restore_times(job, kHost, states, states[0]);
  EXPECT_EQ(times.restore_s, restore_s(kHost, saved, job.layout, job.cluster, job.calibration));
}

// The loss head's stage alone is on the second pool.
TEST(PoolState, OfStagesIsThatOfTheirPool) {
  Job job = pool_job(PoolAxis::pp);
  job.layout.stage_layers = {6, 2};
  const PreparedIteration prepared = prepare_iteration(job);
  const auto bytes = snapshot_bytes_per_gpu(job, prepared.chunks, held_stages(prepared.schedule));
  const std::vector<PoolState> states = states_by_pool(job, prepared);
  ASSERT_EQ(states.size(), 2U);
  EXPECT_EQ(states[0].state.fullest_bytes, bytes[0]);
  EXPECT_EQ(states[1].state.fullest_bytes, bytes[1]);
  const PoolState all = state_of_all(job, prepared);
  EXPECT_EQ(snapshot_node_bytes(job, kHost, MemoryTier::host, states[1], all),
            4 * snapshot_host_bytes(kHost, bytes[1], weight_share(job)));
  // Each reads its own, the old ones over links of half the bandwidth; as the worst of all in every
  // respect they took longer.
  const RestoreTimes times = restore_times(job, kHost, states, all);
  const double as_worst_s = restore_times(job, kHost, {all}, all).restore_s;
  EXPECT_LT(times.restore_s, as_worst_s);
  EXPECT_DOUBLE_EQ(times.restore_s, std::max(bytes[0] / 20e9, bytes[1] / 10e9));
}

// What uneven ranks save together is what even ones do.
TEST(PoolState, OfUnevenSharesAddsUp) {
  Job job = pool_job(PoolAxis::dp);
  job.layout.sharding = Sharding::zero1;
  const PreparedIteration even = prepare_iteration(job);
  const PoolState of_even = state_of_all(job, even);
  job.layout.state_of_pool = {3, 1};
  const PreparedIteration uneven = prepare_iteration(job);
  const std::vector<PoolState> states = states_by_pool(job, uneven);
  ASSERT_EQ(states.size(), 2U);
  EXPECT_DOUBLE_EQ(states[0].state.fullest_bytes, 3 * states[1].state.fullest_bytes);
  EXPECT_NEAR(states[0].state.all_bytes / of_even.state.all_bytes, 1, 1e-12);
  EXPECT_NEAR(states[0].state.fullest_bytes, 1.5 * of_even.state.fullest_bytes, 1);
}

}  // namespace
}  // namespace windtunnel
