#include "sim/study/iterations/smaller_jobs.hpp"

#include <gtest/gtest.h>

#include "policies/iteration.hpp"
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

// Two stages of four replicas, a node each. Without the last replica its two nodes go; a slow one
// of them is taken to stay, in the place of the last that is not.
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

// Of pods of eight nodes a third of a replica cannot be missing.
TEST(SmallerJobs, OfManySizesTheLastIsSimulatedAndOneThatLeavesWholePods) {
  const std::vector<int> sizes = {1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 21, 22, 23};
  // The first, the second, the fourth, the eighth and the last: 1, 2, 4, 12 and 23.
  EXPECT_EQ(sizes_to_simulate(job_in_pods(24, 8), sizes), (std::vector<int>{12, 23}));
  EXPECT_EQ(sizes_to_simulate(job_in_pods(24, 7), sizes), std::vector<int>{23});
  EXPECT_EQ(sizes_to_simulate(job_in_pods(24, 24), sizes), (std::vector<int>{12, 23}));
  EXPECT_EQ(sizes_to_simulate(job_in_pods(24, 7), {1, 2, 5}), (std::vector<int>{1, 2, 5}));
  EXPECT_EQ(sizes_to_simulate(job_in_pods(24, 8), {}), std::vector<int>{});
}

// Where the closed form misses more of the smallest job than of the whole one, it does so in
// proportion of those between, and says how little that is known.
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

}  // namespace
}  // namespace windtunnel
