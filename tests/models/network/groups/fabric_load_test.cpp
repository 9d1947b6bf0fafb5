#include "models/network/groups/fabric_load.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "models/base/random.hpp"
#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

// One lane runs over the first GPUs of all nodes.
Lanes one_lane(const Cluster& cluster) {
  Lanes lanes;
  for (int node = 0; node < cluster.nodes; ++node) lanes.gpus.push_back(node * cluster.node.gpus);
  return lanes;
}

void expect_near(const FabricLoad& a, const FabricLoad& b, double relative) {
  for (const auto load : kFabricLoads) EXPECT_NEAR(a.*load, b.*load, relative * b.*load);
}

Cluster random_tree(RandomStream& random) {
  const auto up_to = [&](int most) { return 1 + static_cast<int>(random.below(most)); };
  Cluster cluster = test_cluster(up_to(40));
  static constexpr Topology kTrees[] = {Topology::rail_fat_tree, Topology::fat_tree,
                                        Topology::rail_only, Topology::clos};
  FabricSpec& fabric = cluster.fabric;
  fabric.topology = kTrees[random.below(4)];
  if (random.below(4) > 0) fabric.nodes_per_pod = up_to(12);
  fabric.pod_oversubscription = up_to(4);
  const int pod =
      fabric.nodes_per_pod > 0 ? std::min(fabric.nodes_per_pod, cluster.nodes) : cluster.nodes;
  fabric.nodes_per_leaf = up_to(pod);
  fabric.leaf_oversubscription = up_to(3);
  cluster.node.nics = 1 << random.below(4);
  if (random.below(3) == 0) fabric.background = {{"pod-up", 0.4}, {"pod-down", 0.1}};
  if (random.below(6) == 0) fabric.background.push_back({"pod-up 0", 0.5});
  return cluster;
}

// All nodes have equally many members, though not always at the same positions.
Lanes random_lanes(RandomStream& random, const Cluster& cluster) {
  std::vector<int> nodes(cluster.nodes);
  std::iota(nodes.begin(), nodes.end(), 0);
  for (size_t i = nodes.size() - 1; i > 0; --i) std::swap(nodes[i], nodes[random.below(i + 1)]);
  nodes.resize(1 + random.below(nodes.size()));
  if (random.below(2) == 0) std::ranges::sort(nodes);
  Lanes lanes;
  lanes.lanes = 1 << random.below(4);
  const bool everywhere_the_same = random.below(3) > 0;
  for (const int node : nodes) {
    const int shift = everywhere_the_same ? 0 : static_cast<int>(random.below(8));
    for (int lane = 0; lane < lanes.lanes; ++lane) {
      lanes.gpus.push_back(node * 8 + (lane * (8 / lanes.lanes) + shift) % 8);
    }
  }
  return lanes;
}

TEST(FabricLoad, ByHandInARailFabric) {
  Cluster cluster = test_cluster(10);
  cluster.fabric.nodes_per_pod = 4;  // pods of 4, 4, 2
  cluster.fabric.pod_oversubscription = 7;
  const FabricLoad load = fabric_load(one_lane(cluster), LinkTable(cluster));
  const double small_s = 7 / (2 * 50e9);  // a byte over the smallest pod's uplink
  EXPECT_TRUE(load.by_rail);
  EXPECT_DOUBLE_EQ(load.ring, small_s);
  // Nodes 8 and 9 have edges to 4 and 0 in the first tree, and to 7 and 1 in the second.
  EXPECT_DOUBLE_EQ(load.tree, 4 * 0.5 * small_s);
  EXPECT_DOUBLE_EQ(load.pairs, 2 * 8 / 10.0 * small_s);
  // There are four nodes in excess; 0 and 2 hand over to 1 and 3 within the pod. Then eight nodes,
  // 1, 3 and 4 to 9, exchange at distance 1 (4 with 5, 6 with 7, 8 with 9), 2 (1 with 4, 3 with 5,
  // 6 with 8, 7 with 9) and 4.
  const double large_s = small_s / 2;
  const double steps[] = {0, 2 * small_s, 2 * small_s};
  EXPECT_DOUBLE_EQ(load.doubling, steps[0] + steps[1] + std::max(steps[2], 4 * large_s));
}

TEST(FabricLoad, AllLanesOfAnOversubscribedPod) {
  Cluster cluster = test_cluster(8);
  cluster.fabric.topology = Topology::fat_tree;
  cluster.fabric.nodes_per_pod = 4;
  cluster.fabric.pod_oversubscription = 2;
  Lanes lanes;
  lanes.lanes = 8;
  lanes.gpus.resize(64);
  std::iota(lanes.gpus.begin(), lanes.gpus.end(), 0);
  const FabricLoad load = fabric_load(lanes, LinkTable(cluster));
  EXPECT_FALSE(load.by_rail);
  const double lane_s = 8 / (4 * 8 * 50e9 / 2);  // a byte of each lane over the pod's uplink
  EXPECT_DOUBLE_EQ(load.ring, lane_s);
  EXPECT_DOUBLE_EQ(load.pairs, 4 * 4 / 8.0 * lane_s);
  EXPECT_DOUBLE_EQ(load.doubling, 4 * lane_s);  // only distance 4 leaves the pod
  EXPECT_DOUBLE_EQ(load.halving, 4 * lane_s / 8);
}

TEST(FabricLoad, ArithmeticAndRoutingAgreeInTrees) {
  std::set<std::pair<Topology, bool>> seen;  // and whether traffic crosses the fabric
  for (int i = 0; i < 600; ++i) {
    RandomStream random(5, RandomPurpose::test, i);
    const Cluster cluster = random_tree(random);
    const LinkTable links(cluster);
    const Lanes lanes = random_lanes(random, cluster);
    const FabricLoad load = fabric_load(lanes, links);
    SCOPED_TRACE(i);
    if (lanes.nodes() > 1) {
      expect_near(load, routed_fabric_load(lanes, links), 1e-12);
    } else {
      EXPECT_EQ(scaled(load, 0), load);
    }
    seen.emplace(cluster.fabric.topology, load.ring > 0);
  }
  EXPECT_EQ(seen.size(), 8u);
}

// Eight groups of two nodes are copies of the first one, shifted along the nodes. Their joint load
// on the uplinks is compared with a sum group by group.
TEST(FabricLoad, GroupsThatChangeRailsMeetOnThem) {
  Cluster cluster = test_cluster(8);
  cluster.fabric.nodes_per_pod = 4;
  for (const Topology topology : {Topology::rail_fat_tree, Topology::rail_only}) {
    cluster.fabric.topology = topology;
    const LinkTable links(cluster);
    for (const int node : {1, 4}) {  // in the same pod, in the other
      for (const int shift : {0, 3}) {
        std::vector<double> load_s(links.count(), 0);
        for (int gpu = 0; gpu < 8; ++gpu) {
          const int other = node * 8 + (gpu + shift) % 8;
          for (const auto& [src, dst] : {std::pair(gpu, other), std::pair(other, gpu)}) {
            std::vector<LinkId> route;
            links.append_route(src, dst, route);
            for (const LinkId link : route) {
              if (links.fabric_link(link) >= 0) load_s[link] += 1 / links.capacity(link);
            }
          }
        }
        const FabricLoad load = fabric_load({1, {0, node * 8 + shift}}, links);
        EXPECT_TRUE(load.by_rail);
        EXPECT_DOUBLE_EQ(load.ring * std::max(1.0, 8 * load.even_share), std::ranges::max(load_s))
            << node << " " << shift;
      }
    }
  }
}

// Two pods of eight nodes have four spines. Single paths are as good as spraying if each spine gets
// one, which round robin ensures and hashing does not.
TEST(FabricLoad, WaysDecideWhatASpineCarries) {
  Cluster cluster = test_cluster(16);
  cluster.fabric.nodes_per_pod = 8;
  cluster.fabric.uplinks = 8;
  const Lanes lanes = one_lane(cluster);
  const auto load = [&](Routing routing) {
    cluster.fabric.routing = routing;
    return fabric_load(lanes, LinkTable(cluster));
  };
  const double sprayed_s = load(Routing::spray).doubling;
  EXPECT_DOUBLE_EQ(sprayed_s, 8 / (8 * 50e9));
  EXPECT_DOUBLE_EQ(load(Routing::planned).doubling, sprayed_s);
  EXPECT_GE(load(Routing::ecmp).doubling, 2 * sprayed_s);
}

TEST(FabricLoad, FailedUplinksLoadTheOthers) {
  Cluster cluster = test_cluster(16);
  cluster.fabric.nodes_per_pod = 8;
  cluster.fabric.uplinks = 4;
  cluster.fabric.routing = Routing::planned;
  const double whole_s = fabric_load(one_lane(cluster), LinkTable(cluster)).doubling;
  cluster.fabric.faults = {{"pod-up 0 rail 0 way 1", 0}, {"pod-up 0 rail 0 way 3", 0}};
  const double half_s = fabric_load(one_lane(cluster), LinkTable(cluster)).doubling;
  EXPECT_DOUBLE_EQ(half_s, 2 * whole_s);
}

TEST(FabricLoad, SampledPairsAreCloseToAll) {
  Cluster cluster = test_cluster(1024);
  cluster.fabric.nodes_per_pod = 60;
  cluster.fabric.pod_oversubscription = 3;
  const LinkTable links(cluster);
  const Lanes lanes = one_lane(cluster);
  const double all = fabric_load(lanes, links).pairs;
  EXPECT_NEAR(routed_fabric_load(lanes, links).pairs, all, 0.05 * all);
}

TEST(FabricLoad, SampledDistancesAreEachOnce) {
  for (const int n : {2, 3, 17, 1000, 5000}) {
    for (const int most : {1, 7, 64, 100000}) {
      const std::vector<int> distances = sampled_distances(n, most);
      EXPECT_EQ(std::ssize(distances), std::min(n - 1, most));
      EXPECT_GE(distances.front(), 1);
      EXPECT_LT(distances.back(), n);
      EXPECT_TRUE(std::ranges::is_sorted(distances));
      EXPECT_EQ(std::ranges::adjacent_find(distances), distances.end()) << n << " " << most;
    }
  }
}

}  // namespace
}  // namespace windtunnel
