#include "sim/study/configurations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "policies/iteration.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/pool_job.hpp"

namespace windtunnel {
namespace {

Configuration under(const char* schedule, int pp = 4) {
  Configuration base{small_job(1, pp, 1), {}};
  base.job.schedule.name = schedule;
  return base;
}

TEST(Configurations, TheOwnScheduleIsKept) {
  for (const char* const name : {"1f1b", "pipedream", "zb-h1"}) {
    Configuration base = under(name);
    base.job.schedule.defer_weights = true;
    const auto own = schedules_of(base, false, false);
    ASSERT_EQ(own.size(), 1U) << name;
    EXPECT_EQ(own[0].schedule.name, name);
    EXPECT_TRUE(own[0].schedule.defer_weights);
  }
}

TEST(Configurations, AllSchedulesAreSynchronous) {
  const auto all = schedules_of(under("pipedream"), true, true);
  const auto count = [&](std::string_view name) {
    return std::ranges::count(all, name, [](const auto& at) { return at.schedule.name; });
  };
  EXPECT_EQ(count("pipedream"), 0);
  EXPECT_EQ(count("pipedream-2bw"), 0);
  EXPECT_EQ(count("1f1b"), 1);
  EXPECT_EQ(count("terapipe"), 2);  // 2 and 4 slices
}

// The base scenario states how many ranks share a copy, and all configurations keep this number.
TEST(Configurations, SharedCopiesFitEveryLayout) {
  Configuration base{small_job(1, 1, 8), {}};
  base.job.layout.shard_ranks = 4;
  std::set<int> seen;
  for (const Configuration& each : layouts_of(base)) {
    const Layout& layout = each.job.layout;
    const int replicas = layout.dp * layout.cp;
    EXPECT_NO_THROW(check_layout(each.job.model, layout, each.job.batch, 8, 4));
    EXPECT_EQ(layout.shard_ranks, std::min(4, replicas));
    EXPECT_NE(layout.sharding, Sharding::none);
    const bool is_set =
        std::ranges::find(each.set, std::string("layout.shard_ranks"),
                          [](const auto& at) { return at.first; }) != each.set.end();
    EXPECT_EQ(is_set, layout.shard_ranks != 4);
    seen.insert(replicas);
  }
  EXPECT_TRUE(seen.contains(1));
  EXPECT_TRUE(seen.contains(8));
}

TEST(Configurations, OneRankHasNoPipelineToOrder) {
  const auto one = schedules_of(under("zb-v", 1), true, true);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].schedule.name, "1f1b");
  EXPECT_EQ(one[0].chunks, 1);
}

// Ranks in their default order fill pools under any layout; stated places fit one layout only.
TEST(Configurations, OfUnlikeNodesKeepTheOrderOfRanks) {
  Configuration base{pool_job(PoolAxis::pp), {}};
  int prepared = 0;
  for (const Configuration& each : layouts_of(base)) {
    EXPECT_EQ(each.job.layout.ranks(), 16);
    EXPECT_EQ(each.job.cluster.pools.size(), 2U);
    if (each.job.batch.global % each.job.layout.dp != 0 || each.job.layout.tp > 2) continue;
    EXPECT_GT(iteration_step_s(each.job, prepare_iteration(each.job)), 0);
    ++prepared;
  }
  EXPECT_GT(prepared, 5);
  base.job.layout.sharding = Sharding::zero1;
  base.job.layout.state_of_pool = {3, 1};
  EXPECT_TRUE(fails([&] { layouts_of(base); }, "layout.shard_shares"));
  base.job.layout.state_of_pool.clear();
  base.job.layout.state = StateShares::even;
  base.job.sync.push_back({.over = "replica", .every_steps = 10});
  EXPECT_TRUE(fails([&] { layouts_of(base); }, "sync"));
  base.job = pool_job(PoolAxis::dp);
  EXPECT_TRUE(fails([&] { layouts_of(base); }, "compare your layouts with compare --vary"));
}

}  // namespace
}  // namespace windtunnel
