#include "policies/search/state_balance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/plan/state_shares.hpp"
#include "policies/iteration.hpp"
#include "tests/support/pool_job.hpp"

namespace windtunnel {
namespace {

// No thousand random shares within the same bounds may end sooner.
TEST(SharesAbove, EndSoonestOfAllThatAddUp) {
  int better = 0;
  for (int draw = 0; draw < 200; ++draw) {
    RandomStream random(3, RandomPurpose::test, draw);
    std::vector<int> ranks;
    std::vector<double> unit_s;
    std::vector<double> most;
    for (std::size_t pool = 0; pool < 2 + random.below(2); ++pool) {
      ranks.push_back(1 + static_cast<int>(random.below(8)));
      unit_s.push_back(0.1 + random.uniform());
      most.push_back(0.2 + 2 * random.uniform());
    }
    const double all = std::accumulate(ranks.begin(), ranks.end(), 0.0);
    const double room = std::inner_product(most.begin(), most.end(), ranks.begin(), 0.0);
    if (room < all) continue;
    const double least = random.uniform() * std::min(1.0, std::ranges::min(most));
    const std::vector<double> shares = shares_above(least, ranks, unit_s, most);
    const auto end_s = [&](const std::vector<double>& of) {
      double end = 0;
      for (std::size_t i = 0; i < of.size(); ++i) end = std::max(end, of[i] * unit_s[i]);
      return end;
    };
    EXPECT_NEAR(std::inner_product(shares.begin(), shares.end(), ranks.begin(), 0.0), all, 1e-9);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      EXPECT_GE(shares[i], least);
      EXPECT_LE(shares[i], most[i]);
    }
    for (int other = 0; other < 1000; ++other) {
      std::vector<double> tried;
      for (const double high : most) tried.push_back(least + (high - least) * random.uniform());
      // The last pool takes the rest, if it fits.
      double rest = all;
      for (std::size_t i = 0; i + 1 < tried.size(); ++i) rest -= tried[i] * ranks[i];
      tried.back() = rest / ranks.back();
      if (tried.back() < least || tried.back() > most.back()) continue;
      ++better;
      EXPECT_GE(end_s(tried), end_s(shares) * (1 - 1e-9));
    }
  }
  EXPECT_GT(better, 1000);
}

Job sharded(Sharding sharding) {
  Job job = pool_job(PoolAxis::dp);
  job.layout.sharding = sharding;
  return job;
}

double state_bytes(const GpuMemory& memory) {
  return memory.weights + memory.gradients + memory.optimizer;
}

// With uneven shares the state of all ranks adds up to the same bytes as with even shares.
TEST(UnevenState, AddsUpInMemory) {
  for (const Sharding sharding : {Sharding::zero1, Sharding::zero2, Sharding::zero3}) {
    Job job = sharded(sharding);
    const std::vector<GpuMemory> even = prepare_iteration(job).memory;
    job.layout.state_of_pool = {3, 1};
    const PreparedIteration prepared = prepare_iteration(job);
    ASSERT_EQ(prepared.kinds.size(), 2U);
    std::vector<double> held(job.layout.pp, 0);
    for (const ReplicaCosts& costs : prepared.kinds) {
      PreparedIteration own;
      own.schedule = costs.schedule;
      own.chunks = costs.chunks;
      own.units = costs.units;
      own.peak_activation_bytes = prepared.peak_activation_bytes;
      const int pool = costs.kind.pools.front();
      const std::vector<GpuMemory> memory =
          iteration_memory(job_of_kind(job, costs.kind, pool), own);
      for (int pp = 0; pp < job.layout.pp; ++pp) {
        held[pp] += state_bytes(memory[pp]) * costs.kind.replicas / job.layout.dp;
        if (pool == 0) {
          EXPECT_NEAR(memory[pp].optimizer, 1.5 * even[pp].optimizer, 1);
        } else {
          EXPECT_NEAR(memory[pp].optimizer, 0.5 * even[pp].optimizer, 1);
        }
      }
    }
    for (int pp = 0; pp < job.layout.pp; ++pp) EXPECT_NEAR(held[pp], state_bytes(even[pp]), 1);
  }
}

// With `auto`, shares are uneven only if the job fits with them and not with even ones.
TEST(BalancedState, FitsWhatEvenSharesDoNot) {
  Job job = sharded(Sharding::zero3);
  EXPECT_TRUE(balanced_state(job).empty());
  const double needed_bytes = fullest_bytes(prepare_iteration(job).memory);
  Parameter& small = job.cluster.pools[1].node.gpu.memory_bytes;
  const double full = small.value * needed_bytes / usable_bytes(job.cluster.pools[1].node.gpu);
  int found = 0;
  for (const double share : {0.99, 0.97, 0.95, 0.93}) {
    small.value = full * share;
    job.layout.state_of_pool.clear();
    ASSERT_FALSE(gpu_memory_excess(prepare_iteration(job).memory, job).empty());
    job.layout.state_of_pool = balanced_state(job);
    ASSERT_EQ(job.layout.state_of_pool.size(), 2U);
    EXPECT_LT(job.layout.state_of_pool[1], job.layout.state_of_pool[0]);
    found += gpu_memory_excess(prepare_iteration(job).memory, job).empty() ? 1 : 0;
  }
  EXPECT_GE(found, 2);
  // Even without any state the activations are too large.
  small.value = 1e6;
  job.layout.state_of_pool = balanced_state(job);
  EXPECT_FALSE(gpu_memory_excess(prepare_iteration(job).memory, job).empty());
}

}  // namespace
}  // namespace windtunnel
