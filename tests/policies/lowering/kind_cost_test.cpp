#include "policies/lowering/kind_cost.hpp"

#include <gtest/gtest.h>

#include "policies/iteration.hpp"
#include "policies/schedules/schedules.hpp"
#include "tests/support/pool_job.hpp"

namespace windtunnel {
namespace {

TEST(KindCosts, AreOfTheNodesThatAStageStandsOn) {
  const Job job = pool_job(PoolAxis::pp);
  const ReplicaKind kind = replica_kinds(job).front();
  const std::vector<ChunkCost> mixed = chunk_costs(job, kind, pools_of_stages(job, kind));
  const std::vector<ChunkCost> fast = chunk_costs(job_of_kind(job, kind, 0));
  const std::vector<ChunkCost> slow = chunk_costs(job_of_kind(job, kind, 1));
  EXPECT_EQ(total_seconds(mixed[0].forward), total_seconds(fast[0].forward));
  EXPECT_EQ(total_seconds(mixed[1].forward), total_seconds(slow[1].forward));
  EXPECT_GT(total_seconds(slow[1].forward), 1.9 * total_seconds(fast[1].forward));
}

// With two pipelines in opposite directions a stage is on nodes of both kinds.
TEST(KindCosts, OfAStageOnTwoKindsAreThoseOfTheSlower) {
  const Job job = pool_job(PoolAxis::pp);
  const ReplicaKind kind = replica_kinds(job).front();
  const Schedule schedule = generate_schedule("chimera", 2, 4, 1);
  EXPECT_EQ(pools_of_stages(job, kind, schedule), (std::vector<int>{1, 1}));
}

// Two pools with the same node count as one kind.
TEST(PreparedKinds, OfPoolsThatAreAlikeAreThoseOfOneKind) {
  for (const PoolAxis axis : {PoolAxis::pp, PoolAxis::dp}) {
    Job pools = pool_job(axis);
    for (Pool& pool : pools.cluster.pools) pool.node = pools.cluster.pools[0].node;
    pools.cluster.node = pools.cluster.shared = shared_node(pools.cluster.pools);
    Job one = pools;
    one.cluster.pools.clear();
    one.pool_calibrations.clear();
    const PreparedIteration of_pools = prepare_iteration(pools);
    const PreparedIteration of_one = prepare_iteration(one);
    EXPECT_EQ(iteration_step_s(pools, of_pools), iteration_step_s(one, of_one));
    EXPECT_EQ(hardware_flops(pools, of_pools), hardware_flops(one, of_one));
    for (std::size_t rank = 0; rank < of_one.memory.size(); ++rank) {
      EXPECT_EQ(of_pools.memory[rank].total(), of_one.memory[rank].total());
    }
    const Plan plan = iteration_plan(pools, of_pools);
    EXPECT_NO_THROW(validate_plan(plan));
    EXPECT_EQ(plan.classes.size(), axis == PoolAxis::pp ? 2U : 4U);
  }
}

TEST(PreparedKinds, WaitForTheReplicasOnSlowNodes) {
  Job job = pool_job(PoolAxis::dp);
  const double even_s = iteration_step_s(job, prepare_iteration(job));
  job.batch.shares = BatchShares::automatic;
  const PreparedIteration shared = prepare_iteration(job);
  EXPECT_GT(shared.kinds[0].kind.microbatches, shared.kinds[1].kind.microbatches);
  EXPECT_LT(iteration_step_s(job, shared), 0.85 * even_s);
  validate_plan(iteration_plan(job, shared));
}

}  // namespace
}  // namespace windtunnel
