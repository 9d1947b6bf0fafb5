#include "policies/shares/stage_balance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "models/cost/chunk/chunk_cost.hpp"
#include "policies/lowering/kind_cost.hpp"
#include "tests/support/pool_job.hpp"

namespace windtunnel {
namespace {

double slowest_rank_s(Job job, const std::vector<int>& layers) {
  job.layout.stage_layers = layers;
  const ReplicaKind kind = replica_kinds(job).front();
  const std::vector<ChunkCost> chunks = chunk_costs(job, kind, pools_of_stages(job, kind));
  std::vector<double> busy_s(job.layout.pp, 0);
  for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
    busy_s[stage % busy_s.size()] += pass_s(chunks[stage]);
  }
  return *std::ranges::max_element(busy_s);
}

TEST(StageBalance, IsTheBestOfAllDivisions) {
  for (const PoolAxis axis : {PoolAxis::none, PoolAxis::pp, PoolAxis::dp}) {
    Job job = pool_job(axis);
    job.model.layers = 13;
    const std::vector<int> found = balanced_stages(job);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0] + found[1], 13);
    for (int first = 0; first <= 13; ++first) {
      EXPECT_LE(slowest_rank_s(job, found), slowest_rank_s(job, {first, 13 - first}) * (1 + 1e-9));
    }
  }
}

TEST(StageBalance, GivesHalfAsFastNodesHalfAsMany) {
  Job job = pool_job(PoolAxis::pp);
  job.model.layers = 60;
  job.model.vocabulary = 256;  // makes both ends negligible
  const std::vector<int> layers = balanced_stages(job);
  EXPECT_NEAR(layers[0], 40, 1);
}

TEST(StageBalance, DividesTheLayersOfARankAmongItsChunks) {
  Job job = small_job(1, 4, 1, 2);
  job.model.layers = 30;
  const std::vector<int> layers = balanced_stages(job);
  ASSERT_EQ(layers.size(), 8U);
  EXPECT_EQ(std::accumulate(layers.begin(), layers.end(), 0), 30);
  for (int rank = 0; rank < 4; ++rank) EXPECT_LE(std::abs(layers[rank] - layers[rank + 4]), 1);
}

// Stages of a pattern consist of consecutive layers; no other division is faster.
TEST(StageBalance, OfAPatternIsTheBestOfAllDivisions) {
  Job job = pool_job(PoolAxis::none);
  job.model.pattern = "--*--M**M*-MM";
  job.model.layers = 13;
  job.model.mamba = {.state = 64, .head_width = 64, .groups = 4, .heads = 32};
  const std::vector<int> found = balanced_stages(job);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0] + found[1], 13);
  for (int first = 0; first <= 13; ++first) {
    EXPECT_LE(slowest_rank_s(job, found), slowest_rank_s(job, {first, 13 - first}) * (1 + 1e-6));
  }
}

// With two stages per rank no rank is busier than with even stages, or more than 5 % busier than
// the mean.
TEST(StageBalance, OfAPatternEvensTheRanksOfSeveralStages) {
  Job job = small_job(1, 4, 1, 2);
  job.model.pattern = "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-";
  job.model.layers = static_cast<int>(job.model.pattern.size());
  job.model.mamba = {.state = 64, .head_width = 64, .groups = 4, .heads = 32};
  job.model.vocabulary = 256;
  const std::vector<int> found = balanced_stages(job);
  EXPECT_EQ(std::accumulate(found.begin(), found.end(), 0), job.model.layers);
  job.layout.stage_layers = found;
  double all_s = 0;
  for (const ChunkCost& chunk : chunk_costs(job)) all_s += pass_s(chunk);
  EXPECT_LE(slowest_rank_s(job, found), 1.05 * all_s / 4);
  const std::vector<int> even = {7, 6, 7, 6, 7, 6, 7, 6};
  EXPECT_LE(slowest_rank_s(job, found), slowest_rank_s(job, even) * (1 + 1e-9));
}

}  // namespace
}  // namespace windtunnel
