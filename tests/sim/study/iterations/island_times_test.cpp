#include "sim/study/iterations/island_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "models/cost/memory/memory.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/simulate.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

using testing::ElementsAre;

// Each replica fills one node of four GPUs.
Job job_of_islands(int islands) {
  Job job = small_job(4, 1, islands);
  job.layout.sync_groups = {islands};
  job.sync = {{.every_steps = 20, .fragments = 2, .delay_steps = 3}};
  return job;
}

TEST(IslandTimes, IslandsStandOnTheirNodesAndExchangeAsTheLevelsSay) {
  Job job = job_of_islands(4);
  const IslandTable table =
      island_table(job, prepare_iteration(job), {{.exchange_s = 1.5, .left_out = 2}});
  EXPECT_EQ(table.count, 4);
  EXPECT_THAT(table.of_node, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(table.fragments, 2);
  ASSERT_EQ(table.levels.size(), 1);
  EXPECT_EQ(table.levels[0].members, 4);
  EXPECT_EQ(table.levels[0].cycle_steps, 10);
  EXPECT_EQ(table.levels[0].delay_steps, 3);
  EXPECT_EQ(table.levels[0].exchange_s, 1.5);
  EXPECT_EQ(table.levels[0].missing, 2);
}

// The job has two regions of two islands.
TEST(IslandTimes, RegionsAreGroupsOfIslands) {
  Job job = job_of_islands(4);
  job.layout.sync_groups = {2, 2};
  job.sync.push_back({.every_steps = 100});
  const IslandTable table = island_table(job, prepare_iteration(job), {{}, {}});
  ASSERT_EQ(table.levels.size(), 2);
  EXPECT_EQ(table.levels[0].members, 2);
  EXPECT_EQ(table.levels[1].members, 4);
}

// Islands have one GPU; four islands share a node and fail together. If every node holds a part of
// every island, no island fails alone.
TEST(IslandTimes, IslandsThatShareNodesCountAsOne) {
  Job job = small_job(1, 1, 16);
  job.layout.sync_groups = {16};
  job.sync = {{.every_steps = 20}};
  EXPECT_EQ(island_table(job, prepare_iteration(job), {{}}).count, 4);
  // A failed node takes four islands with it: the others wait for all of these, or for none.
  for (const auto& [left_out, nodes] : {std::pair{3, 0}, {4, 1}, {11, 2}, {15, 3}}) {
    const auto table = island_table(job, prepare_iteration(job), {{.left_out = left_out}});
    EXPECT_EQ(table.levels.at(0).missing, nodes) << left_out;
  }
  job.layout.sync_groups = {4, 4};
  job.sync.push_back({.every_steps = 100});
  const IslandTable regions = island_table(job, prepare_iteration(job), {{}, {}});
  EXPECT_EQ(regions.levels.size(), 1);  // a level inside a node never waits
  Job apart = small_job(4, 1, 1);
  EXPECT_FALSE(island_table(apart, prepare_iteration(apart), {}).has_islands());
}

// An island streams a GPU's saved state over its NIC, or only the weights, which are a share of it.
TEST(IslandTimes, StreamsTheStateOverTheNic) {
  Job job = job_of_islands(2);
  const PreparedIteration prepared = prepare_iteration(job);
  const double bytes = std::ranges::max(snapshot_bytes_per_gpu(job, prepared.chunks));
  const double state_s = island_table(job, prepared, {{}}).levels[0].stream_s;
  const double least_s = bytes / job.cluster.node.nic_Bps.value;
  EXPECT_GE(state_s, least_s * (1 - 1e-9));
  EXPECT_LE(state_s, 1.5 * least_s + 0.01);
  job.recovery.stream = PeerStream::weights;
  const double weights_s = island_table(job, prepared, {{}}).levels[0].stream_s;
  EXPECT_NEAR(weights_s / state_s, weight_share(job), 0.05);
}

TEST(IslandTimes, OneIslandIsTheJobOfItsReplicas) {
  const Job job = job_of_islands(8);
  const Job one = one_island(job, 8);
  EXPECT_EQ(one.layout.dp, 1);
  EXPECT_EQ(one.layout.islands(), 1);
  EXPECT_EQ(one.cluster.nodes, 1);
  EXPECT_TRUE(one.sync.empty());
}

std::string scenario(const std::string& every, const std::string& wait_for,
                     const std::string& rest = "") {
  return "name: islands\n"
         "model: llama2-7b\n"
         "cluster: {nodes: 32, node: dgx-h100, storage: {write: 200 GB/s, read: 200 GB/s}}\n"
         "layout: {tp: 8, dp: 32, sharding: none}\n"
         "batch: {global: 256, micro: 1, sequence: 4096}\n"
         "sync:\n"
         "  - {over: node, every: " +
         every + ", delay: 2 steps, wait_for: " + wait_for +
         "}\n"
         "snapshots: [{tier: storage, every: 30 min, mode: async}]\n"
         "failures: [{class: node, rate: 100 per 1000 node-days, repair: 1 h}]\n"
         "recovery: {spares: 4, detect: 60 s, restart: 180 s" +
         rest +
         "}\n"
         "campaign: {length: 10 d, replicas: 20}\n";
}

// Islands that exchange rarely wait less for each other than a single job, which stops with each
// failure. They wait even less if exchanges continue without the lost island.
TEST(IslandTimes, CampaignOfIslandsLosesLess) {
  const auto report = [](const std::string& text) {
    return *simulate(parse_case(text, "a.yaml")).campaign;
  };
  const CampaignReport all = report(scenario("200 steps", "all"));
  const CampaignReport some = report(scenario("200 steps", "all-but-2"));
  EXPECT_GT(all.counts[static_cast<int>(CampaignCount::islands_lost)].mean, 0);
  EXPECT_GT(all.survival.at("other islands").mean, 0.5);
  EXPECT_GT(all.lost_s[static_cast<int>(Loss::sync)].mean, 0);
  EXPECT_LT(some.lost_s[static_cast<int>(Loss::sync)].mean,
            0.5 * all.lost_s[static_cast<int>(Loss::sync)].mean);
  EXPECT_GT(some.goodput.low, all.goodput.high);
  EXPECT_FALSE(all.interval);
}

}  // namespace
}  // namespace windtunnel
