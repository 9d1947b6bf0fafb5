#include "sim/study/iterations/smaller_jobs.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "policies/iteration.hpp"
#include "sim/study/iterations/relaid_jobs.hpp"
#include "tests/support/pool_job.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

Job job_in_pods(int dp, int nodes_per_pod) {
  Job job = small_job(4, 1, dp);
  job.cluster.fabric.nodes_per_pod = nodes_per_pod;
  return job;
}

TEST(SmallerJobs, PodsShrinkInProportion) {
  const Job smaller = shrunk(job_in_pods(24, 8), 6);
  EXPECT_EQ(smaller.layout.dp, 18);
  EXPECT_EQ(smaller.cluster.nodes, 18);
  EXPECT_EQ(smaller.cluster.fabric.nodes_per_pod, 6);
}

TEST(SmallerJobs, OnePodStaysOne) {
  const Job smaller = shrunk(job_in_pods(24, 24), 7);
  EXPECT_EQ(smaller.cluster.nodes, 17);
  EXPECT_GE(smaller.cluster.fabric.nodes_per_pod, 17);
}

// Each of two stages of four replicas takes a node. Without the last replica two nodes are idle. If
// one of them is slow, it is assumed to stay, in place of the last node that is not slow.
TEST(SmallerJobs, OthersStayWhereTheyStand) {
  Job job = small_job(4, 2, 4);
  job.cluster.places = {7, 6, 5, 4, 3, 2, 1, 0};
  const Job smaller = shrunk(job, 1);
  EXPECT_EQ(smaller.cluster.nodes, 6);
  EXPECT_EQ(smaller.cluster.fabric_nodes(), 8);
  EXPECT_EQ(smaller.cluster.places, (std::vector<int>{7, 6, 5, 3, 2, 1}));
  job.cluster.slow_nodes = {{.node = 4, .slowdown = 2}, {.node = 1, .slowdown = 3}};
  EXPECT_EQ(shrunk(job, 1).cluster.places, (std::vector<int>{7, 6, 5, 3, 4, 1}));
}

// Pipelines of twelve or six ranks follow one another on nodes of eight GPUs: the first node has
// ranks of one replica, the second of two.
TEST(SmallerJobs, UnlikeNodesCountAsTheFullestOfThem) {
  const auto on_node = [](int tp, int pp, int dp) {
    Job job = small_job(tp, pp, dp);
    job.cluster = small_cluster(tp * pp * dp / 8, 8);
    job.layout.order = {RankAxis::tp, RankAxis::pp, RankAxis::dp};
    job.cluster.ranks = rank_map(job.layout);
    return ranks_of_node(job);
  };
  EXPECT_EQ(on_node(4, 3, 2).replicas, 2);
  EXPECT_EQ(on_node(4, 3, 2).stages, 2);
  EXPECT_EQ(on_node(4, 3, 2).of_stage, 1);
  EXPECT_EQ(on_node(2, 3, 4).stages, 3);
  EXPECT_EQ(on_node(2, 3, 4).of_stage, 2);
}

// Three pods shrink alike only if the number of missing replicas is a multiple of three.
TEST(SmallerJobs, OfManySizesTheLastIsSimulatedAndOneThatLeavesWholePods) {
  const std::vector<int> sizes = {1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 21, 22, 23};
  // The first, second, fourth, eighth and last size are 1, 2, 4, 12 and 23.
  EXPECT_EQ(sizes_to_simulate(job_in_pods(24, 8), sizes), (std::vector<int>{12, 23}));
  EXPECT_EQ(sizes_to_simulate(job_in_pods(24, 7), sizes), std::vector<int>{23});
  EXPECT_EQ(sizes_to_simulate(job_in_pods(24, 24), sizes), (std::vector<int>{12, 23}));
  EXPECT_EQ(sizes_to_simulate(job_in_pods(24, 7), {1, 2, 5}), (std::vector<int>{1, 2, 5}));
  EXPECT_EQ(sizes_to_simulate(job_in_pods(24, 8), {}), std::vector<int>{});
}

// If the closed form's error is larger for the smallest job than for the whole job, sizes in
// between get errors in proportion, and the gap states how uncertain they are.
TEST(SmallerJobs, SimulatedJobsCorrectTheClosedForm) {
  const Job job = job_in_pods(24, 7);
  const PreparedIteration prepared = prepare_iteration(job);
  const auto closed_s = [&](int missing) {
    return estimate_iteration(shrunk(job, missing), prepared).step_s;
  };
  const auto [seconds, gap] = smaller_iterations(
      job, prepared, {10, 20}, {{0, 1.2 * closed_s(0)}, {20, 1.5 * closed_s(20)}}, 1);
  ASSERT_EQ(seconds.size(), 2u);
  EXPECT_NEAR(seconds[0], 1.35 * closed_s(10), 1e-12);
  EXPECT_DOUBLE_EQ(seconds[1], 1.5 * closed_s(20));
  EXPECT_NEAR(gap, 1 - 1.2 / 1.5, 1e-12);
  EXPECT_TRUE(smaller_iterations(job, prepared, {}, {{0, 1}}, 1).seconds.empty());
}

// Each of two stages has two fast and two slow replicas, half a node each. Pools keep their share
// of what is left, rounded in favour of the slower: without one node's replicas, one fast and two
// slow ones are left.
TEST(SmallerJobs, PoolsKeepTheirShare) {
  const Job job = pool_job(PoolAxis::dp);
  const auto pools_left = [&](const Job& smaller) {
    std::vector<int> pools;
    for (int node = 0; node < smaller.cluster.nodes; ++node) {
      pools.push_back(smaller.cluster.pool_of_place(smaller.cluster.place_of(node)));
    }
    return pools;
  };
  EXPECT_EQ(pools_left(job), (std::vector<int>{0, 1, 0, 1}));
  const Job half = shrunk(job, 2);
  EXPECT_EQ(half.layout.dp, 2);
  EXPECT_EQ(pools_left(half), (std::vector<int>{1, 1}));
  EXPECT_EQ(pools_left(relaid(job, {.tp = 2, .pp = 1, .dp = 4})), (std::vector<int>{0, 1}));
  EXPECT_EQ(pools_left(relaid(job, {.tp = 2, .pp = 1, .dp = 6})), (std::vector<int>{0, 1, 1}));
}

// If two pools have the same kind of node, the smaller job does not depend on which pool lost
// nodes.
TEST(SmallerJobs, PoolsThatAreAlikeShrinkAsOneKind) {
  Job pools = pool_job(PoolAxis::dp);
  for (Pool& pool : pools.cluster.pools) pool.node = pools.cluster.pools[0].node;
  pools.cluster.node = pools.cluster.shared = shared_node(pools.cluster.pools);
  Job one = pools;
  one.cluster.pools.clear();
  one.pool_calibrations.clear();
  const PreparedIteration of_pools = prepare_iteration(pools);
  const PreparedIteration of_one = prepare_iteration(one);
  const std::vector<int> sizes = smaller_sizes(pools, of_pools);
  EXPECT_EQ(sizes, smaller_sizes(one, of_one));
  const auto times = [](const Job& job, const PreparedIteration& prepared,
                        const std::vector<int>& missing) {
    const double own_s = iteration_step_s(job, prepared);
    return smaller_iterations(job, prepared, missing, {{0, own_s}}, 1).seconds;
  };
  const std::vector<double> of_alike = times(pools, of_pools, sizes);
  const std::vector<double> plain = times(one, of_one, sizes);
  ASSERT_EQ(of_alike.size(), plain.size());
  for (std::size_t i = 0; i < plain.size(); ++i)
    EXPECT_NEAR(of_alike[i], plain[i], 1e-9 * plain[i]);
}

// Replicas have one GPU each, so that the remaining replicas need not fill their nodes.
TEST(SmallerJobs, OnUnlikeNodesMayLeaveAPartOfANode) {
  Job job = pool_job(PoolAxis::dp);
  job.layout.tp = job.layout.pp = 1;
  job.layout.dp = job.cluster.gpus();
  job.cluster.places.clear();
  job.batch.global = 4 * job.layout.dp * job.batch.micro;
  std::vector<int> all(job.layout.dp - 1);
  std::iota(all.begin(), all.end(), 1);
  EXPECT_EQ(smaller_sizes(job, prepare_iteration(job)), all);
}

}  // namespace
}  // namespace windtunnel
