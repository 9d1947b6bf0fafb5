#include "policies/outer/island_nodes.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

// Eight replicas of one GPU each are on two nodes of four.
Job islands_of(int islands) {
  Job job = small_job(1, 1, 8);
  job.cluster = small_cluster(2, 4);
  job.layout.sync_groups = {islands};
  return job;
}

TEST(IslandNodes, IslandsThatShareNodesGoTogether) {
  EXPECT_EQ(first_islands(islands_of(2)), (std::vector<int>{0, 1}));
  EXPECT_TRUE(goes_on_by_islands(islands_of(2)));
  // Each node has two of four islands.
  EXPECT_EQ(first_islands(islands_of(4)), (std::vector<int>{0, 2}));
  EXPECT_EQ(islands_apart(islands_of(4)), 2);
  EXPECT_TRUE(goes_on_by_islands(islands_of(4)));
}

// If each stage has nodes of its own, all replicas share them. If whole replicas are on one node,
// they do not.
TEST(IslandNodes, RanksOutOfOrderMayJoinAllIslands) {
  Job job = small_job(1, 2, 4);
  job.cluster = small_cluster(2, 4);
  job.layout.sync_groups = {4};
  EXPECT_EQ(islands_apart(job), 1);
  EXPECT_FALSE(goes_on_by_islands(job));
  job.layout.order = {RankAxis::pp, RankAxis::dp};  // whole replicas on a node
  job.cluster.ranks = rank_map(job.layout);
  EXPECT_EQ(islands_apart(job), 2);
  EXPECT_TRUE(goes_on_by_islands(job));
  job.recovery.elastic.groups = 2;
  EXPECT_FALSE(goes_on_by_islands(job));
}

}  // namespace
}  // namespace windtunnel
