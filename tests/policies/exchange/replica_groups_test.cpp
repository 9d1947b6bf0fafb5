#include "policies/exchange/replica_groups.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "models/base/random.hpp"
#include "models/network/collectives/collective.hpp"
#include "models/network/groups/group_shapes.hpp"
#include "tests/support/shuffled_places.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

Layout random_layout(RandomStream& random) {
  const auto power = [&](int most) { return 1 << random.below(most + 1); };
  Layout layout;
  layout.tp = power(3);
  layout.cp = power(1);
  layout.dp = power(4) * (random.below(4) == 0 ? 3 : 1);
  layout.pp = 1 + static_cast<int>(random.below(4));
  layout.ep = power(2);
  while (layout.tp * layout.cp * layout.dp % layout.ep != 0) layout.ep /= 2;
  if (random.below(2) == 0) layout.sharding = Sharding::zero3;
  if (layout.sharding == Sharding::zero3 && layout.dp % 2 == 0) {
    layout.shard_ranks = random.below(2) == 0 ? 0 : layout.dp / 2;
  }
  return layout;
}

TEST(ReplicaGroups, EveryFamilyPartitionsTheRanksOfAStage) {
  for (int i = 0; i < 200; ++i) {
    RandomStream random(1, RandomPurpose::test, i);
    const Layout layout = random_layout(random);
    const int members = layout.tp * layout.cp * layout.dp;
    for (int axis = 0; axis < kReplicaAxes; ++axis) {
      const StridedGroups groups =
          replica_groups(layout, static_cast<ReplicaAxis>(axis), 1 << random.below(4));
      std::set<int> seen;
      for (int group = 0; group < groups.size(); ++group) {
        for (const int rank : groups.members(0, group)) {
          EXPECT_EQ(groups.group_of(rank), group);
          EXPECT_TRUE(seen.insert(rank).second);
        }
      }
      EXPECT_EQ(std::ssize(seen), members);
    }
  }
}

// `shard` times `across` is the number of ranks that hold the same parameters.
TEST(ReplicaGroups, ShardAndAcrossMakeAllReplicas) {
  for (int i = 0; i < 200; ++i) {
    RandomStream random(2, RandomPurpose::test, i);
    const Layout layout = random_layout(random);
    const auto count = [&](ReplicaAxis axis) { return replica_groups(layout, axis).count; };
    EXPECT_EQ(count(ReplicaAxis::dense_shard) * count(ReplicaAxis::dense_across),
              layout.cp * layout.dp);
    EXPECT_EQ(count(ReplicaAxis::expert_shard) * count(ReplicaAxis::expert_across),
              layout.tp * layout.cp * layout.dp / layout.ep);
  }
}

// A dense group is a grid of parts and peers. A part is inside a node, and its members' peers are
// in different nodes. If parts are single ranks, some group is placed unlike the others, or no two
// members share a node.
TEST(ReplicaGroups, PartsLieInANodeAndPeersInDifferentOnes) {
  int regular = 0;
  for (int i = 0; i < 400; ++i) {
    RandomStream random(4, RandomPurpose::test, i);
    const Layout layout = random_layout(random);
    const int gpus = random.below(4) == 0 ? 6 : 1 << random.below(5);
    const auto groups = [&](ReplicaAxis axis) { return replica_groups(layout, axis, gpus); };
    const StridedGroups part = groups(ReplicaAxis::node_part);
    const StridedGroups peers = groups(ReplicaAxis::node_peers);
    const StridedGroups dense = groups(
        layout.sharding == Sharding::none ? ReplicaAxis::dense_across : ReplicaAxis::dense_shard);
    ASSERT_EQ(part.count * peers.count, dense.count);
    if (part.count == 1) {
      EXPECT_EQ(peers, dense);
      continue;
    }
    ++regular;
    const int members = layout.tp * layout.cp * layout.dp;
    for (int pp = 0; pp < layout.pp; ++pp) {
      for (int group = 0; group < part.size(); ++group) {
        for (const int rank : part.members(pp * members, group)) {
          EXPECT_EQ(rank / gpus, part.members(pp * members, group).front() / gpus);
        }
      }
      for (int group = 0; group < peers.size(); ++group) {
        std::set<int> nodes;
        for (const int rank : peers.members(pp * members, group)) nodes.insert(rank / gpus);
        EXPECT_EQ(std::ssize(nodes), peers.count);
      }
    }
  }
  EXPECT_GT(regular, 100);
}

TEST(ReplicaGroups, TheShapeIsTheWorstOfAllGroups) {
  int several_pods = 0;
  for (int i = 0; i < 400; ++i) {
    RandomStream random(3, RandomPurpose::test, i);
    const Layout layout = random_layout(random);
    const int per_node = random.below(2) == 0 ? 4 : 8;
    Cluster cluster = small_cluster((layout.ranks() + per_node - 1) / per_node, per_node);
    cluster.node.nics = random.below(3) == 0 ? per_node / 2 : per_node;
    if (random.below(2) == 0) cluster.fabric.nodes_per_pod = 1 + random.below(6);
    if (random.below(2) == 0) cluster.node.package_gpus = random.below(2) == 0 ? 2 : 4;
    static constexpr Topology kForms[] = {Topology::rail_fat_tree, Topology::fat_tree,
                                          Topology::rail_only, Topology::clos};
    cluster.fabric.topology = kForms[random.below(4)];
    const int pod = cluster.fabric.nodes_per_pod > 0 ? cluster.fabric.nodes_per_pod : 6;
    cluster.fabric.nodes_per_leaf =
        std::min(1 + static_cast<int>(random.below(pod)), cluster.nodes);
    if (random.below(3) == 0) {
      cluster.degraded_nics = {{static_cast<int>(random.below(cluster.nodes)), 0, 0.5}};
    }
    if (i % 4 == 0) shuffle_places(random, static_cast<int>(random.below(5)), cluster);
    const int members = layout.tp * layout.cp * layout.dp;
    StridedShapes shapes(LinkTable::keeping_reference(cluster));
    for (int axis = 0; axis < kReplicaAxes; ++axis) {
      const StridedGroups groups = replica_groups(layout, static_cast<ReplicaAxis>(axis), per_node);
      if (groups.count == 1) continue;
      for (int pp = 0; pp < layout.pp; ++pp) {
        WorstShape worst(cluster);
        for (int g = 0; g < groups.size(); ++g) worst.add(groups.members(pp * members, g));
        const GroupShape expected = among_concurrent(worst.shape(), cluster);
        EXPECT_EQ(shapes.worst(groups, pp * members), expected)
            << i << " axis " << axis << " pp " << pp;
        several_pods += expected.load.ring > 0;
      }
    }
  }
  EXPECT_GT(several_pods, 100);
}

TEST(ReplicaGroups, WholeCopiesOfTheState) {
  const auto copies = [](Layout layout) { return state_copies(layout).count; };
  EXPECT_EQ(copies({.tp = 8, .dp = 8}), 8);
  EXPECT_EQ(copies({.tp = 8, .cp = 2, .pp = 4, .dp = 8}), 16);
  EXPECT_EQ(copies({.dp = 8, .sharding = Sharding::zero1}), 1);
  EXPECT_EQ(copies({.dp = 8, .sharding = Sharding::zero3, .shard_ranks = 4}), 2);
  // Experts on four ranks have two copies, which limits the copies of the whole state, although
  // each rank holds the rest.
  EXPECT_EQ(copies({.dp = 8, .ep = 4}), 2);
  // Six ranks hold a copy of the rest and four a copy of the experts, so that twelve hold a copy of
  // both.
  const Layout both{.dp = 24, .ep = 4, .sharding = Sharding::zero1, .shard_ranks = 6};
  EXPECT_EQ(copies(both), 2);
  EXPECT_EQ(state_copies(both).stride, 12);
}

TEST(ReplicaGroups, TheWorldCostsWhatAllGpusCost) {
  for (const int pod : {0, 3}) {
    Cluster cluster = small_cluster(8, 8);
    cluster.fabric.nodes_per_pod = pod;
    cluster.node.package_gpus = pod == 0 ? 1 : 2;
    cluster.node.package_Bps = spec(1e9);
    Calibration calibration = ideal_calibration();
    calibration.nic_latency_s = spec(5e-6);
    std::vector<std::int32_t> all(64);
    std::iota(all.begin(), all.end(), 0);
    const auto seconds = [&](const GroupShape& shape) {
      return collective_cost(CollectiveKind::all_reduce, CollectiveAlgorithm::automatic, shape, 8,
                             cluster, calibration)
          .seconds;
    };
    EXPECT_NEAR(seconds(world_shape({}, LinkTable(cluster))), seconds(group_shape(all, cluster)),
                1e-8);
  }
}

// A message is limited by the slowest NIC of the two stages; NICs of other stages do not matter.
TEST(ReplicaGroups, MessagesTakeNicsAsTheyAre) {
  const Layout layout{.tp = 4, .pp = 3, .dp = 2};  // two nodes for each stage
  Cluster cluster = small_cluster(6, 4);
  const auto factor = [&](int from, int to) {
    return message_way(layout, LinkTable(cluster), from, to).nic_factor;
  };
  EXPECT_EQ(factor(0, 1), 1);
  cluster.degraded_nics = {{.node = 3, .nic = 1, .factor = 0.5}};
  EXPECT_EQ(factor(0, 1), 0.5);
  EXPECT_EQ(factor(1, 2), 0.5);
  EXPECT_EQ(factor(2, 0), 1);
  cluster.fabric.background = {{"nic-in", 0.3}};
  EXPECT_DOUBLE_EQ(factor(0, 1), 0.35);
  EXPECT_DOUBLE_EQ(factor(2, 0), 0.7);
}

}  // namespace
}  // namespace windtunnel
