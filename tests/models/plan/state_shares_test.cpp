#include "models/plan/state_shares.hpp"

#include <gtest/gtest.h>

#include "models/base/random.hpp"
#include "tests/support/pool_job.hpp"

namespace windtunnel {
namespace {

TEST(StateShares, AreEvenUnlessSaid) {
  const Job job = pool_job(PoolAxis::dp);
  EXPECT_FALSE(uneven_state(job));
  EXPECT_EQ(ranks_by_pool(job, 0), (std::vector<int>{4, 4}));
  EXPECT_EQ(state_factor(job, 0, 1), 1);
  EXPECT_EQ(uneven_ring_factor(job, 0), 1);
}

// The first pool holds three quarters of the state: its ranks hold 1.5 times the mean, those of the
// second 0.5 times. The busiest link of a ring of four carries all but the smallest share, 7/8
// instead of 3/4.
TEST(StateShares, ByHand) {
  Job job = pool_job(PoolAxis::dp);
  job.layout.state_of_pool = {3, 1};
  EXPECT_DOUBLE_EQ(state_factor(job, 0, 0), 1.5);
  EXPECT_DOUBLE_EQ(state_factor(job, 1, 1), 0.5);
  EXPECT_DOUBLE_EQ(largest_state_factor(job, 0), 1.5);
  EXPECT_DOUBLE_EQ(uneven_ring_factor(job, 0), (7.0 / 8) / (3.0 / 4));
}

// A stage on nodes of one kind divides its state into exactly equal shares.
TEST(StateShares, OfOneKindAreEven) {
  Job job = pool_job(PoolAxis::pp);
  job.layout.state_of_pool = {0.7, 0.1};
  EXPECT_EQ(state_factor(job, 0, 0), 1);
  EXPECT_EQ(state_factor(job, 1, 1), 1);
  EXPECT_EQ(uneven_ring_factor(job, 1), 1);
}

TEST(StateShares, AddUpToTheWhole) {
  for (int draw = 0; draw < 300; ++draw) {
    RandomStream random(11, RandomPurpose::test, draw);
    Job job = pool_job(PoolAxis::dp);
    job.layout.state_of_pool = {0.01 + random.uniform(), 0.01 + random.uniform()};
    for (int pp = 0; pp < job.layout.pp; ++pp) {
      const std::vector<int> ranks = ranks_by_pool(job, pp);
      const double held = ranks[0] * state_factor(job, pp, 0) + ranks[1] * state_factor(job, pp, 1);
      EXPECT_NEAR(held, ranks[0] + ranks[1], 1e-9);
      const double n = job.layout.dp;
      EXPECT_GE(uneven_ring_factor(job, pp), 1);
      EXPECT_LE(uneven_ring_factor(job, pp), n / (n - 1));
    }
  }
}

}  // namespace
}  // namespace windtunnel
