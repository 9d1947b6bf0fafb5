// Tests of passes over packs: which passes there are, which GPUs meet in them, and what they cost.
#include "policies/lengths/pack_costs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "models/cost/chunk/step_work.hpp"
#include "policies/lengths/assignments.hpp"
#include "policies/lengths/length_pool.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

Job job_of_packs(LengthPolicy policy, Sharding sharding = Sharding::none) {
  Job job = small_job(1, 2, 4);
  job.layout.cp = 2;
  job.layout.sharding = sharding;
  job.cluster = small_cluster(4, 4);
  job.batch = {32, 1, 4096};
  job.lengths = {{.median = 400, .sigma = 1.2, .longest = 4096}, policy, 7};
  return job;
}

double forward_s(const std::vector<ChunkCost>& units) {
  double seconds = 0;
  for (const ChunkCost& unit : units) seconds += total_seconds(unit.forward);
  return seconds;
}

TEST(PackPasses, EveryGpuPassesItsPacksAndMeetsTheirRanks) {
  for (const LengthPolicy policy : {LengthPolicy::fixed, LengthPolicy::hdp}) {
    const Job job = job_of_packs(policy);
    const LengthPlan plan = assignments(job, step_lengths(job)).front().plan;
    const std::vector<PackPasses> passes = passes_of(job, plan);
    ASSERT_EQ(std::ssize(passes), pool_gpus(job));
    std::size_t ranks = 0;
    for (const LengthPack& pack : plan.rounds.front()) ranks += pack.ranks;
    std::size_t full = 0;
    for (int gpu = 0; gpu < std::ssize(passes); ++gpu) {
      for (const PackPass& pass : passes[gpu]) {
        if (pass.pack < 0) continue;
        ++full;
        const LengthPack& pack = plan.rounds[pass.round][pass.pack];
        EXPECT_GE(gpu, pack.first);
        EXPECT_LT(gpu, pack.first + pack.ranks);
        const MeetingGpus all{pack.first, pack.ranks};
        EXPECT_EQ(std::ranges::count(pass.meets, all), pack.ranks > 1 ? 1 : 0);
      }
    }
    EXPECT_EQ(full, ranks);
  }
}

TEST(PackPasses, RanksThatShardMakeEquallyMany) {
  const Job job = job_of_packs(LengthPolicy::hdp, Sharding::zero3);
  ASSERT_TRUE(in_step(job));
  const std::vector<PackPasses> passes =
      passes_of(job, assignments(job, step_lengths(job)).front().plan);
  for (const PackPasses& own : passes) EXPECT_EQ(own.size(), passes.front().size());
  EXPECT_FALSE(in_step(job_of_packs(LengthPolicy::hdp)));
}

// The mean pack stands for all packs: it takes their mean time and the memory of the largest.
TEST(PackCosts, MeanStandsForAllPacks) {
  const Job job = job_of_packs(LengthPolicy::fixed);
  const std::vector<int> lengths = step_lengths(job);
  const Assignment assignment = fixed_assignment(job, lengths);
  const LengthCosts& costs = assignment.costs->begin()->second;
  const PackCosts packs(job, costs, assignment.plan, lengths);
  double all_s = 0;
  double fullest = 0;
  const auto& round = assignment.plan.rounds.front();
  for (int pack = 0; pack < std::ssize(round); ++pack) {
    const std::vector<ChunkCost> units = packs.of({0, pack});
    all_s += forward_s(units);
    fullest = std::max(fullest, units.front().activation_bytes);
  }
  EXPECT_GT(all_s, 0);
  EXPECT_NEAR(forward_s(packs.mean()) * static_cast<double>(round.size()), all_s, 1e-9 * all_s);
  EXPECT_DOUBLE_EQ(packs.mean().front().activation_bytes, fullest);
}

TEST(PackCosts, APassWithoutSequencesHoldsWeightsAlone) {
  const Job job = job_of_packs(LengthPolicy::fixed);
  const std::vector<int> lengths = step_lengths(job);
  const Assignment assignment = fixed_assignment(job, lengths);
  const PackCosts packs(job, assignment.costs->begin()->second, assignment.plan, lengths);
  const std::vector<ChunkCost> idle = packs.of({});
  const std::vector<ChunkCost> full = packs.of({0, 0});
  ASSERT_EQ(idle.size(), full.size());
  EXPECT_EQ(forward_s(idle), 0);
  EXPECT_EQ(idle.front().activation_bytes, 0);
  EXPECT_EQ(idle.front().parameters, full.front().parameters);
}

}  // namespace
}  // namespace windtunnel
