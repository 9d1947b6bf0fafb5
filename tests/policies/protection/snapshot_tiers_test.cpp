#include "policies/protection/snapshot_tiers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

const SnapshotTier kStorage{.every_s = 3600};
const SnapshotTier kHost{.place = SnapshotPlace::host_memory, .every_iterations = 10};
const SnapshotTier kKept{
    .place = SnapshotPlace::host_memory, .every_iterations = 10, .keeper_process = true};

TEST(SnapshotTiers, WhatATierSurvives) {
  for (const FailureKind kind : {FailureKind::process, FailureKind::node, FailureKind::planned}) {
    EXPECT_TRUE(survives(kStorage, kind));
    EXPECT_FALSE(survives(kHost, kind));
    EXPECT_EQ(survives(kKept, kind), kind != FailureKind::node);
  }
}

TEST(SnapshotTiers, PlannedStopWritesToTheFarthestThatSurvives) {
  EXPECT_EQ(tier_for_planned_stop({kKept, kStorage}), 1);
  EXPECT_EQ(tier_for_planned_stop({kKept, kHost}), 0);
  EXPECT_EQ(tier_for_planned_stop({kHost}), kNoTier);
  EXPECT_EQ(tier_for_planned_stop({}), kNoTier);
}

TEST(SnapshotTiers, PlannedStopsNeedATierThatSurvivesThem) {
  const std::vector<FailureClass> unplanned{{.name = "crash", .kind = FailureKind::process},
                                            {.name = "gpu", .kind = FailureKind::node}};
  std::vector<FailureClass> planned = unplanned;
  planned.push_back({.name = "upgrade", .kind = FailureKind::planned});
  for (const std::vector<SnapshotTier>& tiers :
       {std::vector{kStorage}, {kKept}, {kHost, kStorage}}) {
    EXPECT_NO_THROW(check_snapshot_tiers(tiers, planned));
  }
  for (const std::vector<SnapshotTier>& tiers : {std::vector<SnapshotTier>{}, {kHost}}) {
    EXPECT_NO_THROW(check_snapshot_tiers(tiers, unplanned));
    EXPECT_EQ(error_of([&] { check_snapshot_tiers(tiers, planned); }),
              "failures.2: failure class 'upgrade' stops the job as planned, but no snapshot tier "
              "survives a planned stop; add to snapshots a tier: storage, or keeper: process to a "
              "tier: host-memory");
  }
}

TEST(SnapshotTiers, ABadCopyIsOneOfThem) {
  const FailureClass bad{.name = "bad", .kind = FailureKind::corrupt_snapshot, .corrupt_tier = 1};
  EXPECT_NO_THROW(check_snapshot_tiers({kHost, kStorage}, {bad}));
  try {
    check_snapshot_tiers({kStorage}, {bad});
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "failures.0.tier: failure class 'bad' corrupts copies of snapshots.1, but the "
                 "number of tiers is 1");
    EXPECT_EQ(error.keys().front(), "failures.0.tier");
  }
}

TEST(SnapshotTiers, AreAtMostFour) {
  EXPECT_NO_THROW(check_snapshot_tiers(std::vector(kMaxSnapshotTiers, kStorage), {}));
  EXPECT_THROW(check_snapshot_tiers(std::vector(kMaxSnapshotTiers + 1, kStorage), {}), Error);
}

TEST(SnapshotTiers, RestoresTheNewestThenTheFastest) {
  EXPECT_EQ(tier_to_restore_from({{40, 5}, {30, 1}}), 0);
  EXPECT_EQ(tier_to_restore_from({{-1, 1}, {30, 9}}), 1);
  EXPECT_EQ(tier_to_restore_from({{30, 5}, {30, 1}, {30, 2}}), 1);
  EXPECT_EQ(tier_to_restore_from({{0, 5}}), 0);
  EXPECT_EQ(tier_to_restore_from({{-1, 5}}), kNoTier);
}

TEST(NodeGroups, HoldEveryNodeOnceInGroupsOfTheirSizeOrMore) {
  RandomStream random(3, RandomPurpose::test, 0);
  for (int round = 0; round < 500; ++round) {
    NodeGroups groups;
    groups.size = 1 + static_cast<int>(random.below(9));
    groups.stride = 1 + static_cast<int>(random.below(4));
    groups.nodes = groups.size * groups.stride + static_cast<int>(random.below(60));
    std::map<int, std::vector<int>> members;
    for (int node = 0; node < groups.nodes; ++node) members[groups.group_of(node)].push_back(node);
    ASSERT_EQ(std::ssize(members), groups.groups());
    int larger = 0;
    for (const auto& [group, nodes] : members) {
      ASSERT_LT(group, groups.groups());
      EXPECT_EQ(std::ssize(nodes), groups.members_of(group));
      EXPECT_GE(std::ssize(nodes), groups.size);
      larger += std::ssize(nodes) > groups.size;
      for (std::size_t i = 1; i < nodes.size(); ++i) {
        EXPECT_EQ((nodes[i] - nodes[i - 1]) % groups.stride, 0);
      }
    }
    EXPECT_LE(larger, groups.stride);  // only the last block has larger groups
  }
}

// Returns (stage, tp rank, position in the shard) for the dense parameters that a node's ranks
// hold; for experts the position is the place in the ep group.
std::set<std::array<int, 3>> shards_of_node(const Layout& layout, const Cluster& cluster, int node,
                                            bool experts) {
  std::set<std::array<int, 3>> shards;
  const int replicas = layout.cp * layout.dp;
  int shard = layout.sharding == Sharding::none ? 1 : layout.shard_ranks;
  if (shard == 0) shard = replicas;
  for (int slot = 0; slot < cluster.node.gpus; ++slot) {
    const int rank = cluster.rank_on(node, slot);
    const int members = layout.tp * replicas;
    const int pp = rank / members;
    const int at = rank % members;
    const int region = layout.tp * shard;
    const int apart = experts ? std::max(region, layout.ep) : region;
    shards.insert({pp, at % apart, 0});
  }
  return shards;
}

TEST(NodeGroups, OfTheSameShardHoldTheSame) {
  RandomStream random(4, RandomPurpose::test, 0);
  int found = 0;
  int found_out_of_order = 0;
  for (int round = 0; round < 800; ++round) {
    Layout layout;
    layout.tp = 1 << random.below(4);
    layout.cp = 1 << random.below(2);
    layout.pp = 1 << random.below(3);
    layout.dp = 1 << random.below(5);
    layout.ep = 1 << random.below(3);
    if (layout.tp * layout.cp * layout.dp % layout.ep != 0) continue;
    if (random.below(2) == 0) {
      layout.sharding = Sharding::zero3;
      layout.shard_ranks = 1 << random.below(4);
      if (layout.cp * layout.dp % layout.shard_ranks != 0) continue;
    }
    const int gpus = 4;
    if (layout.ranks() % gpus != 0) continue;
    Cluster cluster = small_cluster(layout.ranks() / gpus, gpus);
    if (random.below(2) == 0) {
      layout.order = {RankAxis::tp, RankAxis::pp, RankAxis::cp, RankAxis::dp};
      if (random.below(2) == 0) std::ranges::reverse(layout.order);
      cluster.ranks = rank_map(layout);
    }
    const NodeGroups groups = same_shard_nodes(layout, cluster);
    found += groups.size > 1;
    found_out_of_order += groups.size > 1 && !cluster.ranks.in_order();
    std::map<int, int> first;  // by group: its first node
    for (int node = 0; node < cluster.nodes; ++node) {
      const int leader = first.try_emplace(groups.group_of(node), node).first->second;
      for (const bool experts : {false, true}) {
        EXPECT_EQ(shards_of_node(layout, cluster, node, experts),
                  shards_of_node(layout, cluster, leader, experts))
            << "tp " << layout.tp << " cp " << layout.cp << " pp " << layout.pp << " dp "
            << layout.dp << " ep " << layout.ep << " shard " << layout.shard_ranks;
      }
    }
  }
  EXPECT_GT(found, 50);
  EXPECT_GT(found_out_of_order, 50);
}

TEST(NodeGroups, OfKnownLayouts) {
  const auto groups = [](Layout layout) {
    return same_shard_nodes(layout, small_cluster(layout.ranks() / 4, 4));
  };
  // With unsharded data parallelism all nodes of a stage hold the same state.
  EXPECT_EQ(groups({.tp = 2, .pp = 2, .dp = 8}).size, 4);
  EXPECT_EQ(groups({.tp = 2, .pp = 2, .dp = 8}).stride, 1);
  // If tp spans two nodes, every second node holds the same shard.
  EXPECT_EQ(groups({.tp = 8, .dp = 4}).stride, 2);
  EXPECT_EQ(groups({.tp = 8, .dp = 4}).size, 4);
  // Shards over all ranks have no second copy. Shards over eight ranks have two copies, of two
  // nodes each.
  EXPECT_EQ(groups({.dp = 16, .sharding = Sharding::zero1}).size, 1);
  EXPECT_EQ(groups({.dp = 16, .sharding = Sharding::zero3, .shard_ranks = 8}).size, 2);
  EXPECT_EQ(groups({.dp = 16, .sharding = Sharding::zero3, .shard_ranks = 8}).stride, 2);
  EXPECT_EQ(groups({.tp = 4, .pp = 4}).size, 1);
}

TEST(SnapshotTiers, SurviveNodesAsCountedGroupByGroup) {
  RandomStream random(8, RandomPurpose::test, 0);
  int survived = 0;
  for (int round = 0; round < 2000; ++round) {
    TierProtection protection;
    const int nodes = 4 + static_cast<int>(random.below(40));
    protection.node = true;
    protection.groups = {nodes, 1 + static_cast<int>(random.below(6)),
                         1 + static_cast<int>(random.below(3))};
    protection.tolerated = static_cast<int>(random.below(4));
    std::vector<int> lost;
    std::map<int, int> of_group;
    bool stands = true;
    for (int node = nodes - 1; node >= 0; --node) {
      if (random.below(6) != 0) continue;
      lost.push_back(node);
      stands = stands && ++of_group[protection.groups.group_of(node)] <= protection.tolerated;
    }
    EXPECT_EQ(survives_nodes(protection, lost), stands);
    survived += stands;
  }
  EXPECT_GT(survived, 200);
  EXPECT_LT(survived, 1800);
}

TEST(SnapshotTiers, CodesOverNodesStandWhatTheirParityCovers) {
  SnapshotTier tier{.place = SnapshotPlace::peers, .every_iterations = 1, .keeper_process = true};
  tier.code = {.name = CodeName::reed_solomon, .data = 3, .parity = 2};
  const auto stands = [&](std::vector<int> lost) {
    return survives_nodes(protection_of(tier, 12, {}), lost);
  };
  EXPECT_TRUE(stands({0, 4}));
  EXPECT_FALSE(stands({0, 2, 4}));
  EXPECT_TRUE(stands({0, 2, 5, 6}));
  EXPECT_FALSE(stands({9, 10, 11}));  // two nodes are left over, in the second group
  tier.code.spread = true;            // groups are nodes 0, 2, 4, ... and 1, 3, 5, ...
  EXPECT_TRUE(stands({0, 1, 2, 3}));
  EXPECT_FALSE(stands({0, 2, 4}));
  for (const FailureKind kind : {FailureKind::process, FailureKind::node, FailureKind::planned}) {
    EXPECT_TRUE(survives(tier, kind));
  }
  tier.code = {.name = CodeName::xor_parity, .data = 3, .parity = 1, .in_node = true};
  tier.place = SnapshotPlace::host_memory;
  EXPECT_FALSE(stands({7}));
  EXPECT_FALSE(survives(tier, FailureKind::node));
  EXPECT_TRUE(protection_of(tier, 12, {}).keeper);
  tier.code = {};
  EXPECT_FALSE(protection_of(tier, 12, {}).keeper);
}

TEST(SnapshotTiers, ReplicasOutliveWhatLeavesOneOfThem) {
  const SnapshotTier tier{.place = SnapshotPlace::replicas};
  const TierProtection protection = protection_of(tier, 4, {4, 2, 2});
  EXPECT_TRUE(survives_nodes(protection, std::vector{0, 1}));
  EXPECT_FALSE(survives_nodes(protection, std::vector{0, 2}));
  EXPECT_TRUE(
      survives_end(protection, {.name = "", .kind = FailureKind::process, .takes_keeper = true}));
  EXPECT_FALSE(survives_end(protection, {.name = "", .kind = FailureKind::planned}));
}

TEST(SnapshotTiers, ThatCannotBeAreRefusedWithTheReason) {
  const auto refused = [](SnapshotTier tier, const std::string& reason) {
    Layout layout{.tp = 4, .dp = 4, .sharding = Sharding::zero1};
    EXPECT_TRUE(fails([&] { check_snapshot_tiers({tier}, layout, small_cluster(4, 4)); }, reason));
  };
  SnapshotTier tier{.place = SnapshotPlace::peers};
  refused(tier, "needs a code, without which nodes keep");
  tier.code = {.name = CodeName::reed_solomon, .data = 4, .parity = 1};
  refused(tier, "a code over 4 + 1 nodes does not fit a job of 4");
  tier.code = {.name = CodeName::reed_solomon, .data = 0, .parity = 1};
  refused(tier, "data must be at least 1");
  tier.code = {.name = CodeName::xor_parity, .data = 2, .parity = 2};
  refused(tier, "XOR gives 1 parity block, not 2");
  tier.code = {.name = CodeName::copies, .data = 2, .parity = 1};
  refused(tier, "set data: 1");
  tier.code = {.name = CodeName::xor_parity, .data = 1, .parity = 1, .in_node = true};
  refused(tier, "one inside the node belongs to tier: host-memory");
  tier.place = SnapshotPlace::local_disk;
  refused(tier, "local-disk takes a code between nodes");
  tier.place = SnapshotPlace::host_memory;
  tier.code = {.name = CodeName::xor_parity, .data = 4, .parity = 1, .in_node = true};
  refused(tier, "4 + 1 processes does not fit a node of 4 GPUs");
  tier.code = {.name = CodeName::recompute};
  refused(tier, "needs the weights of the same node");
  tier.place = SnapshotPlace::storage;
  tier.code = {.name = CodeName::xor_parity, .data = 3, .parity = 1};
  refused(tier, "storage takes no code");
  refused({.place = SnapshotPlace::replicas},
          "layout.sharding: none or layout.shard_ranks below dp x cp");
}

TEST(SnapshotTiers, AreNamedByPlace) {
  EXPECT_EQ(tier_name(kHost), "host-memory");
  EXPECT_EQ(tier_name(kStorage), "storage");
  EXPECT_EQ(tier_name({.place = SnapshotPlace::local_disk}), "local-disk");
}

}  // namespace
}  // namespace windtunnel
