#include "policies/shares/replica_kind.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "tests/support/pool_job.hpp"

namespace windtunnel {
namespace {

// Tries all combinations and returns the best.
double least_s(std::span<const int> weights, std::span<const double> unit_s, double lead,
               int total) {
  if (weights.size() == 1) {
    if (total < weights[0] || total % weights[0] != 0) return 1e300;
    return (total / weights[0] + lead) * unit_s[0];
  }
  double least = 1e300;
  for (int n = 1; n * weights[0] < total; ++n) {
    least = std::min(
        least, std::max((n + lead) * unit_s[0], least_s(weights.subspan(1), unit_s.subspan(1), lead,
                                                        total - n * weights[0])));
  }
  return least;
}

TEST(BalancedNumbers, AreTheBestOfAllThatAddUp) {
  int found = 0;
  for (int draw = 0; draw < 300; ++draw) {
    RandomStream random(7, RandomPurpose::test, draw);
    const std::size_t kinds = 1 + random.below(3);
    std::vector<int> weights;
    std::vector<double> unit_s;
    for (std::size_t k = 0; k < kinds; ++k) {
      weights.push_back(1 + static_cast<int>(random.below(6)));
      unit_s.push_back(0.2 + random.uniform());
    }
    const int total = 1 + static_cast<int>(random.below(80));
    const double lead = static_cast<double>(random.below(3));
    const std::vector<int> numbers = balanced_numbers(weights, unit_s, lead, total);
    const double least = least_s(weights, unit_s, lead, total);
    if (numbers.empty()) {
      EXPECT_GE(least, 1e300) << "a combination was missed";
      continue;
    }
    ++found;
    EXPECT_EQ(std::inner_product(weights.begin(), weights.end(), numbers.begin(), 0), total);
    double end_s = 0;
    for (std::size_t k = 0; k < kinds; ++k)
      end_s = std::max(end_s, (numbers[k] + lead) * unit_s[k]);
    EXPECT_NEAR(end_s, least, 1e-9);
  }
  EXPECT_GT(found, 100);
}

TEST(ReplicaKinds, AreOneWhereAllNodesAreAlike) {
  const Job job = pool_job(PoolAxis::none);
  const std::vector<ReplicaKind> kinds = replica_kinds(job);
  ASSERT_EQ(kinds.size(), 1U);
  EXPECT_EQ(kinds[0].replicas, job.layout.dp);
  EXPECT_EQ(kinds[0].pools, std::vector<int>(job.layout.pp, -1));
}

TEST(ReplicaKinds, FollowTheNodesThatTheirPipelinesStandOn) {
  const std::vector<ReplicaKind> stages = replica_kinds(pool_job(PoolAxis::pp));
  ASSERT_EQ(stages.size(), 1U);
  EXPECT_EQ(stages[0].pools, (std::vector<int>{0, 1}));
  const std::vector<ReplicaKind> replicas = replica_kinds(pool_job(PoolAxis::dp));
  ASSERT_EQ(replicas.size(), 2U);
  EXPECT_EQ(replicas[0].pools, (std::vector<int>{0, 0}));
  EXPECT_EQ(replicas[1].pools, (std::vector<int>{1, 1}));
  EXPECT_EQ(replicas[0].first, 0);
  EXPECT_EQ(replicas[1].first, replicas[0].replicas);
}

TEST(ReplicaKinds, ShareMicroBatchesOrTheirSequences) {
  Job job = pool_job(PoolAxis::dp);
  job.batch.shares = BatchShares::stated;
  job.batch.share_of_pool = {3, 1};
  const std::vector<double> equal_s = {1, 1};
  std::vector<ReplicaKind> kinds = replica_kinds(job);
  const int before = kinds[0].microbatches;
  share_batch(job, equal_s, kinds);
  EXPECT_EQ(kinds[0].microbatches, 3 * kinds[1].microbatches);
  EXPECT_EQ(kinds[0].microbatches + kinds[1].microbatches, 2 * before);
  EXPECT_EQ(kinds[0].micro, job.batch.micro);

  job.layout.sharding = Sharding::zero3;
  job.batch.micro = 4;
  kinds = replica_kinds(job);
  share_batch(job, equal_s, kinds);
  EXPECT_EQ(kinds[0].microbatches, kinds[1].microbatches);
  EXPECT_EQ(kinds[0].micro, 6);
  EXPECT_EQ(kinds[1].micro, 2);
}

TEST(ReplicaKinds, RefuseABatchThatDoesNotDivide) {
  Job job = pool_job(PoolAxis::dp);
  job.batch.shares = BatchShares::automatic;
  job.batch.global = job.layout.dp / 2;  // one micro-batch for every second replica
  std::vector<ReplicaKind> kinds = replica_kinds(job);
  EXPECT_THROW(share_batch(job, std::vector<double>{1, 2}, kinds), Error);
}

}  // namespace
}  // namespace windtunnel
