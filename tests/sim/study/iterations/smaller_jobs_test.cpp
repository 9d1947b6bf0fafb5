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

// Of pods of eight nodes a third of a replica cannot be missing.
TEST(SmallerJobs, OnlySizesThatLeaveWholePodsAreSimulated) {
  const std::vector<int> sizes = {1, 2, 3, 6, 12, 18};
  EXPECT_EQ(sizes_to_simulate(job_in_pods(24, 8), sizes), (std::vector<int>{6, 18}));
  EXPECT_EQ(sizes_to_simulate(job_in_pods(24, 7), sizes), std::vector<int>{});
  // With one pod for all, about half of the replicas and the fewest.
  const Job alone = job_in_pods(24, 24);
  EXPECT_EQ(sizes_to_simulate(alone, smaller_sizes(alone, prepare_iteration(alone))),
            (std::vector<int>{8, 23}));
}

// Where none is simulated the closed form moves with the whole job, and may be off by as much as
// it is there.
TEST(SmallerJobs, TheWholeJobCorrectsTheClosedForm) {
  const Job job = job_in_pods(24, 7);
  const PreparedIteration prepared = prepare_iteration(job);
  const double closed_s = estimate_iteration(job, prepared).step_s;
  const auto [seconds, gap] = smaller_iterations(job, prepared, {1, 2}, {{0, 1.25 * closed_s}}, 1);
  ASSERT_EQ(seconds.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_DOUBLE_EQ(seconds[i], 1.25 * estimate_iteration(shrunk(job, i + 1), prepared).step_s);
  }
  EXPECT_NEAR(gap, 0.25, 1e-12);
}

}  // namespace
}  // namespace windtunnel
