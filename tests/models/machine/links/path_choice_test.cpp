// Each routing must choose among equal paths as it promises, on random traffic over trees of two
// and three levels.
#include "models/machine/links/path_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

// The number of parts into which each of `flows` equal transfers from a NIC to a leaf must be split
// to load links as evenly as ideal spraying.
int fewest_parts(int flows, int paths) {
  return paths / std::gcd(flows, paths);
}

Parameter exact_value(double value) {
  return {value, value, value, Origin::assumed, "test"};
}

struct Transfer {
  int from = 0;
  int to = 0;
};

// Nodes have one GPU and one NIC.
Cluster tree_of(int nodes, int nodes_per_pod, int uplinks) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.node.gpus = cluster.node.nics = 1;
  cluster.node.nvlink_Bps = exact_value(100);
  cluster.node.nic_Bps = exact_value(10);
  cluster.fabric.topology = Topology::fat_tree;
  cluster.fabric.nodes_per_pod = nodes_per_pod;
  cluster.fabric.uplinks = uplinks;
  return cluster;
}

// A Clos network with four leaves of `leaf` nodes in two pods.
Cluster clos_of(int leaf) {
  Cluster cluster = tree_of(4 * leaf, 2 * leaf, 0);
  cluster.fabric.topology = Topology::clos;
  cluster.fabric.nodes_per_leaf = leaf;
  return cluster;
}

Cluster with(Cluster cluster, Routing routing, int parts = 1, std::uint64_t seed = 1) {
  cluster.fabric.routing = routing;
  cluster.fabric.parts = parts;
  cluster.fabric.routing_seed = seed;
  return cluster;
}

// The load of transfers of one unit each. `busiest_s` is the time of the fabric's busiest link,
// `minimal` the largest share that takes the first path, which is the minimal one on a dragonfly.
struct RoutedLoad {
  double busiest_s = 0;
  double minimal = 0;
};

RoutedLoad routed_load(const Cluster& cluster, const std::vector<Transfer>& transfers) {
  const LinkTable links(cluster);
  PathChooser chooser(links);
  if (chooser.asks_twice()) {
    for (const Transfer& transfer : transfers) chooser.choose(transfer.from, transfer.to, 1);
    chooser.settle();
  }
  RoutedLoad load;
  std::vector<double> load_s(links.count(), 0);
  std::vector<LinkId> route;
  for (const Transfer& transfer : transfers) {
    double shares = 0;
    for (const PathShare& way : chooser.choose(transfer.from, transfer.to, 1)) {
      route.clear();
      links.append_route(transfer.from, transfer.to, route, way.path);
      if (way.path == 0) load.minimal = std::max(load.minimal, way.share);
      shares += way.share;
      for (const LinkId link : route) {
        if (links.fabric_link(link) < 0) continue;
        load_s[link] += way.share / links.capacity(link);
        load.busiest_s = std::max(load.busiest_s, load_s[link]);
      }
    }
    EXPECT_NEAR(shares, 1, 1e-12);
  }
  return load;
}

double busiest_s(const Cluster& cluster, const std::vector<Transfer>& transfers) {
  return routed_load(cluster, transfers).busiest_s;
}

std::vector<Transfer> shuffled(std::vector<Transfer> transfers, RandomStream& random) {
  for (size_t i = transfers.size(); i > 1; --i) {
    std::swap(transfers[i - 1], transfers[random.below(i)]);
  }
  return transfers;
}

std::vector<Transfer> permutation(int nodes, RandomStream& random) {
  std::vector<Transfer> order(nodes);
  for (int node = 0; node < nodes; ++node) order[node].to = node;
  order = shuffled(order, random);
  for (int node = 0; node < nodes; ++node) order[node].from = node;
  return order;
}

// Every node sends to every other node.
std::vector<Transfer> all_pairs(int nodes) {
  std::vector<Transfer> transfers;
  for (int from = 0; from < nodes; ++from) {
    for (int to = 0; to < nodes; ++to) {
      if (from != to) transfers.push_back({from, to});
    }
  }
  return transfers;
}

TEST(PathChoice, SplittingReachesSprayingOnPermutations) {
  // Addanki et al. 2024: splitting into as many parts as paths suffices, hashing whole connections
  // does not.
  int collided = 0;
  int trials = 0;
  for (const Cluster& cluster : {tree_of(32, 8, 8), tree_of(24, 6, 3), clos_of(4), clos_of(8)}) {
    const LinkTable links(with(cluster, Routing::ecmp));
    const int ways = links.paths(0, cluster.nodes - 1);
    EXPECT_GT(ways, 1);
    for (int seed = 0; seed < 20; ++seed, ++trials) {
      RandomStream random(seed, RandomPurpose::test, 20);
      const std::vector<Transfer> transfers = permutation(cluster.nodes, random);
      const double spray_s = busiest_s(with(cluster, Routing::spray), transfers);
      const double split_s =
          busiest_s(with(cluster, Routing::split_single_path, fewest_parts(1, ways)), transfers);
      const double ecmp_s = busiest_s(with(cluster, Routing::ecmp, 1, seed), transfers);
      EXPECT_NEAR(split_s, spray_s, 1e-9 * spray_s) << cluster.nodes << " nodes, seed " << seed;
      EXPECT_GE(ecmp_s, spray_s * (1 - 1e-12));
      collided += ecmp_s > 1.5 * spray_s;
    }
  }
  EXPECT_GT(collided, trials / 2);
}

TEST(PathChoice, TheFewestPartsAreEnough) {
  // n transfers of a NIC to a leaf, in paths / gcd(n, paths) parts each, load every link as
  // spraying does, in any order. 4 transfers on 6 paths need 3 parts, 6 on 4 need 2, and 8 on 4
  // need none.
  EXPECT_EQ(fewest_parts(4, 6), 3);
  EXPECT_EQ(fewest_parts(6, 4), 2);
  EXPECT_EQ(fewest_parts(8, 4), 1);
  int too_few = 0;
  for (const auto& [leaf, ways] : {std::pair{4, 6}, {6, 4}, {8, 4}, {3, 8}, {4, 10}}) {
    for (int seed = 0; seed < 10; ++seed) {
      RandomStream random(seed, RandomPurpose::test, 21);
      const Cluster cluster = tree_of(3 * leaf, leaf, ways);
      const std::vector<Transfer> transfers = shuffled(all_pairs(cluster.nodes), random);
      const double spray_s = busiest_s(with(cluster, Routing::spray), transfers);
      const auto split_s = [&](int parts) {
        return busiest_s(with(cluster, Routing::split_single_path, parts), transfers);
      };
      const int parts = fewest_parts(leaf, ways);
      EXPECT_NEAR(split_s(parts), spray_s, 1e-9 * spray_s) << leaf << " below " << ways << " ways";
      if (parts > 1) too_few += split_s(parts - 1) > spray_s * (1 + 1e-9);
    }
  }
  EXPECT_GT(too_few, 10);
  // In a three-level tree, 8 transfers to a leaf share 8 leaf uplinks, or 16 core switches.
  const Cluster clos = clos_of(8);
  RandomStream random(1, RandomPurpose::test, 22);
  const std::vector<Transfer> transfers = shuffled(all_pairs(clos.nodes), random);
  const double spray_s = busiest_s(with(clos, Routing::spray), transfers);
  EXPECT_NEAR(busiest_s(with(clos, Routing::split_single_path, fewest_parts(8, 16)), transfers),
              spray_s, 1e-9 * spray_s);
}

TEST(PathChoice, NicsOfALeafTakeTurns) {
  // Every node sends an unsplit transfer to the same node of the next leaf, and no two share a
  // link.
  const Cluster cluster = with(tree_of(32, 8, 8), Routing::split_single_path, 1);
  std::vector<Transfer> transfers;
  for (int node = 0; node < 32; ++node) transfers.push_back({node, (node + 8) % 32});
  EXPECT_NEAR(busiest_s(cluster, transfers), 1.0 / 10, 1e-12);
}

TEST(PathChoice, APlanAvoidsCollisions) {
  // A leaf has as many connections as uplinks. Between neighbouring leaves the plan puts no two on
  // one link. For permutations it is greedy: at most two share a link, where hashing puts three and
  // more on one.
  const Cluster cluster = tree_of(32, 8, 8);
  std::vector<Transfer> neighbours;
  for (int node = 0; node < 32; ++node) neighbours.push_back({node, (node + 8) % 32});
  EXPECT_NEAR(busiest_s(with(cluster, Routing::planned), neighbours), 1.0 / 10, 1e-12);
  double planned_s = 0;
  double ecmp_s = 0;
  for (int seed = 0; seed < 20; ++seed) {
    RandomStream random(seed, RandomPurpose::test, 23);
    const std::vector<Transfer> transfers = permutation(32, random);
    const double plan_s = busiest_s(with(cluster, Routing::planned), transfers);
    EXPECT_LE(plan_s, 2.0 / 10 + 1e-12);
    planned_s += plan_s / 20;
    ecmp_s += busiest_s(with(cluster, Routing::ecmp, 1, seed), transfers) / 20;
  }
  EXPECT_GT(ecmp_s, 1.3 * planned_s);
}

// Nodes have one GPU and one NIC, and each has its router.
Cluster dragonfly_of(int groups, int routers, Routing routing) {
  Cluster cluster = tree_of(groups * routers, 0, 0);
  cluster.fabric.topology = Topology::dragonfly;
  cluster.fabric.nodes_per_router = 1;
  cluster.fabric.routers_per_group = routers;
  cluster.fabric.local_Bps = exact_value(10);
  cluster.fabric.global_Bps = exact_value(10 * routers / 2.0);
  cluster.fabric.routing = routing;
  return cluster;
}

TEST(PathChoice, AdaptiveRoutesSpreadALoneTransferAndKeepEvenTrafficMinimal) {
  const Cluster adaptive = dragonfly_of(1, 9, Routing::adaptive);
  // One direct path and seven detours share the bytes, in parts of 1/64.
  EXPECT_NEAR(routed_load(adaptive, {{0, 5}}).busiest_s, 0.1 / 8, 1e-12);
  EXPECT_NEAR(routed_load(adaptive, {{0, 5}}).minimal, 1.0 / 8, 1e-12);
  // All cables are equally loaded, so that a detour, which takes two cables, would only add load.
  const RoutedLoad even = routed_load(adaptive, all_pairs(9));
  EXPECT_EQ(even.minimal, 1);
  EXPECT_NEAR(even.busiest_s, 0.1, 1e-12);
}

// In the adversarial pattern of Kim et al. 2008 every group sends everything to the next group.
// Minimal routes use a single bundle; with detours over all other groups nearly half of a group's
// bundles carry useful traffic.
TEST(PathChoice, AdaptiveRoutesHalveWhatAnAdversaryLeaves) {
  std::vector<Transfer> transfers;
  for (int group = 0; group < 9; ++group) {
    for (int router = 0; router < 4; ++router) {
      transfers.push_back({4 * group + router, (4 * group + 4) % 36 + router});
    }
  }
  Cluster cluster = dragonfly_of(9, 4, Routing::adaptive);
  cluster.fabric.local_Bps = exact_value(1000);
  const double adaptive_s = routed_load(cluster, transfers).busiest_s;
  cluster.fabric.routing = Routing::spray;
  const double minimal_s = routed_load(cluster, transfers).busiest_s;
  EXPECT_NEAR(minimal_s, 4 / 20.0, 1e-12);
  EXPECT_NEAR(minimal_s / adaptive_s, 8 / 2.0, 0.6);
}

TEST(PathChoice, AdaptiveRoutesAreNoWorseThanMinimalOnes) {
  int better = 0;
  for (int seed = 0; seed < 60; ++seed) {
    RandomStream random(seed, RandomPurpose::test, 23);
    const int groups = 1 + static_cast<int>(random.below(5));
    const int routers = 3 + static_cast<int>(random.below(4));
    std::vector<Transfer> transfers = permutation(groups * routers, random);
    std::erase_if(transfers, [](const Transfer& t) { return t.from == t.to; });
    const Cluster adaptive = dragonfly_of(groups, routers, Routing::adaptive);
    const double minimal_s =
        routed_load(dragonfly_of(groups, routers, Routing::spray), transfers).busiest_s;
    const double adaptive_s = routed_load(adaptive, transfers).busiest_s;
    EXPECT_LE(adaptive_s, minimal_s * (1 + 1e-9)) << "seed " << seed;
    better += adaptive_s < 0.8 * minimal_s;
  }
  EXPECT_GT(better, 20);
}

TEST(PathChoice, HashesAreFixedAndEven) {
  const Cluster cluster = with(tree_of(64, 32, 8), Routing::ecmp);
  const LinkTable links(cluster);
  PathChooser chooser(links);
  PathChooser again(links);
  const LinkTable other_links(with(cluster, Routing::ecmp, 1, 2));
  PathChooser other(other_links);
  std::vector<int> count(8, 0);
  int same = 0;
  for (int from = 0; from < 32; ++from) {
    for (int to = 32; to < 64; ++to) {
      const int path = chooser.choose(from, to, 1).front().path;
      ++count[path];
      same += other.choose(from, to, 1).front().path == path;
    }
  }
  // 1,024 draws give 128 per path, and 128 equal choices under two seeds; the standard deviation is
  // 10.6.
  for (const int of_way : count) EXPECT_NEAR(of_way, 128, 5 * 10.6);
  EXPECT_NEAR(same, 128, 5 * 10.6);
  for (int to = 63; to >= 32; --to) {
    EXPECT_EQ(again.choose(3, to, 7).front().path, chooser.choose(3, to, 1).front().path);
  }
}

TEST(PathChoice, NothingTakesAFailedLink) {
  for (const Routing routing : {Routing::ecmp, Routing::split_single_path, Routing::planned}) {
    Cluster cluster = with(tree_of(16, 4, 4), routing, 3);
    cluster.fabric.faults = {{"pod-up 0 way 1", 0}, {"pod-down 2 way 3", 0}};
    const LinkTable links(cluster);
    PathChooser chooser(links);
    std::set<std::string> used;
    std::vector<LinkId> route;
    for (const Transfer& transfer : all_pairs(16)) {
      for (const PathShare& way : chooser.choose(transfer.from, transfer.to, 1)) {
        EXPECT_GT(way.share, 0);
        route.clear();
        links.append_route(transfer.from, transfer.to, route, way.path);
        for (const LinkId link : route) used.insert(links.name(link));
      }
    }
    EXPECT_FALSE(used.contains("pod-up 0 way 1"));
    EXPECT_FALSE(used.contains("pod-down 2 way 3"));
    EXPECT_TRUE(used.contains("pod-up 0 way 3"));
  }
}

}  // namespace
}  // namespace windtunnel
