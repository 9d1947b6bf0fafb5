#include "sim/study/iterations/pool_state.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "models/cost/memory/memory.hpp"
#include "models/cost/memory/tiers.hpp"
#include "models/cost/snapshot/snapshot_cost.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/iterations/memory_excess.hpp"
#include "sim/study/simulate.hpp"
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

// Only the stage with the loss head is on the second pool.
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
  // Each pool reads its own state, and the old nodes have links of half the bandwidth. A pool with
  // the worst of both in every respect would take longer.
  const RestoreTimes times = restore_times(job, kHost, states, all);
  const double as_worst_s = restore_times(job, kHost, {all}, all).restore_s;
  EXPECT_LT(times.restore_s, as_worst_s);
  EXPECT_DOUBLE_EQ(times.restore_s, std::max(bytes[0] / 20e9, bytes[1] / 10e9));
}

// Uneven ranks together save as much as even ones.
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

constexpr std::array kOffloaded = {&Offload::optimizer, &Offload::weights, &Offload::gradients,
                                   &Offload::activations};

Job offloaded(PoolAxis axis, MemoryTier Offload::*part, LengthPolicy policy) {
  Job job = pool_job(axis);
  job.communication.fidelity = Fidelity::closed;
  job.batch.sequence = 4096;
  job.batch.global *= 8;
  job.lengths = {{.median = 400, .sigma = 1.2, .longest = 4096}, policy, 7};
  Offload offload;
  offload.*part = MemoryTier::host;
  if (part != &Offload::activations) offload.optimizer = MemoryTier::host;
  job.layout.sharding = Sharding::zero3;
  job.offload = std::make_shared<const Offload>(offload);
  return job;
}

// Packs of unequal sequences run on all kinds of nodes, with each part that may be offloaded. A
// node's host holds what its ranks offload, each according to its class of GPUs.
TEST(PoolState, OffloadOfPacksIsThatOfTheNodesRanks) {
  for (const PoolAxis axis : {PoolAxis::none, PoolAxis::pp, PoolAxis::dp}) {
    for (const LengthPolicy policy :
         {LengthPolicy::fixed, LengthPolicy::flexsp, LengthPolicy::hdp}) {
      for (MemoryTier Offload::*const part : kOffloaded) {
        SCOPED_TRACE(fmt::format("axis {} policy {}", int(axis), int(policy)));
        const Job job = offloaded(axis, part, policy);
        const PreparedIteration prepared = prepare_iteration(job);
        EXPECT_EQ(memory_excess(job, prepared), "");
        double ranks = 0;
        for (const ReplicaCosts& own : prepared.kinds) {
          ranks += static_cast<double>(own.members.size());
          EXPECT_EQ(own.memory.size(), axis == PoolAxis::none ? 0U : 2U);
        }
        EXPECT_EQ(ranks, job.layout.ranks() / job.layout.pp);
        for (const PoolState& of : states_by_pool(job, prepared)) {
          const double bytes = offload_node_bytes(job, prepared, MemoryTier::host, of.pool);
          const double fullest =
              std::max(prepared.memory[0].host.total(), prepared.memory[1].host.total());
          EXPECT_GT(bytes, 0);
          EXPECT_LE(bytes, job.cluster.node.gpus * fullest * (1 + 1e-9));
          EXPECT_EQ(offload_node_bytes(job, prepared, MemoryTier::disk, of.pool), 0);
        }
      }
    }
  }
}

// Different nodes are the fullest ones, as each pool has half of the packs.
TEST(PoolState, OffloadOnPoolsThatAreAlikeIsThatOfOne) {
  for (MemoryTier Offload::*const part : kOffloaded) {
    Job pools = offloaded(PoolAxis::dp, part, LengthPolicy::hdp);
    pools.cluster.pools[1].node = pools.cluster.pools[0].node;
    pools.cluster.node = pools.cluster.shared = shared_node(pools.cluster.pools);
    Job one = pools;
    one.cluster.pools.clear();
    one.pool_calibrations.clear();
    const PreparedIteration of_pools = prepare_iteration(pools);
    const double expected = offload_node_bytes(one, prepare_iteration(one), MemoryTier::host, -1);
    for (const int pool : {0, 1}) {
      const double bytes = offload_node_bytes(pools, of_pools, MemoryTier::host, pool);
      EXPECT_LE(bytes, expected * (1 + 1e-9));
      EXPECT_NEAR(bytes, expected, 0.05 * expected);
    }
  }
}

// Jobs run from scenario to record, as in `windtunnel run`.
TEST(PoolState, JobsOfPacksWithOffloadAreSimulated) {
  for (const char* machine :
       {"nodes: 2, node: dgx-h100",
        "pools: [{name: a, nodes: 1, node: dgx-h100}, {name: b, nodes: 1, node: dgx-a100}]"}) {
    for (const char* offload :
         {"{activations: host}", "{optimizer: host}", "{optimizer: host, weights: host}",
          "{optimizer: host, gradients: host}"}) {
      SCOPED_TRACE(fmt::format("{} on {}", offload, machine));
      const std::string text = fmt::format(
          "name: packs\n"
          "model: {{layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024}}\n"
          "cluster: {{{}, storage: {{write: 10 GB/s, read: 10 GB/s}}}}\n"
          "layout: {{tp: 2, pp: 2, sharding: zero3}}\n"
          "batch: {{global: 64, lengths: {{median: 300, sigma: 0.8}}}}\n"
          "offload: {}\n",
          machine, offload);
      const Record record = simulate(parse_case(text, "packs.yaml"), {.threads = 1});
      EXPECT_GT(record.iteration.time_s, 0);
    }
  }
}

}  // namespace
}  // namespace windtunnel
