#include "models/machine/fabrics/dragonfly.hpp"

#include <map>

#include "models/base/random.hpp"
#include "tests/models/machine/fabric_fixtures.hpp"

namespace windtunnel {
namespace {

Cluster dragonfly(int nodes, int nodes_per_router, int routers_per_group,
                  Routing routing = Routing::spray) {
  Cluster cluster = cluster_of(Topology::dragonfly, nodes);
  cluster.fabric.nodes_per_router = nodes_per_router;
  cluster.fabric.routers_per_group = routers_per_group;
  cluster.fabric.local_Bps = exactly(20);
  cluster.fabric.global_Bps = exactly(60);
  cluster.fabric.routing = routing;
  return cluster;
}

// Four groups have three routers each: every bundle has a separate router.
TEST(Dragonfly, RoutesByHand) {
  const auto links = make_dragonfly_links(dragonfly(24, 2, 3));
  EXPECT_EQ(links->count(), 4 * 3 * 2 + 4 * 3);
  EXPECT_EQ(names_of_route(*links, 0, 1), Names{});
  EXPECT_EQ(links->switch_hops(0, 1), 1);
  EXPECT_EQ(names_of_route(*links, 0, 4), (Names{"local 0 from 0 to 2"}));
  EXPECT_EQ(links->switch_hops(0, 4), 2);
  // Group 0's bundle of cables to group 1 is plugged into its router 0. Group 1's bundle to group
  // 0, three groups further on, is plugged into its router 2.
  EXPECT_EQ(names_of_route(*links, 2, 6),
            (Names{"local 0 from 1 to 0", "global 0 to 1", "local 1 from 2 to 0"}));
  EXPECT_EQ(links->switch_hops(2, 6), 4);
  EXPECT_EQ(names_of_route(*links, 0, 10), (Names{"global 0 to 1"}));
  EXPECT_EQ(links->switch_hops(0, 10), 2);
  EXPECT_EQ(links->capacity(link_called(*links, "local 0 from 1 to 0")), 20);
  EXPECT_EQ(links->capacity(link_called(*links, "global 0 to 1")), 60);
}

// With fewer groups than routers a bundle is spread over several routers, and each sender uses its
// own.
TEST(Dragonfly, TwoGroupsShareABundleOfAllRouters) {
  const auto sprayed = make_dragonfly_links(dragonfly(8, 1, 4));
  for (int router = 0; router < 4; ++router) {
    EXPECT_EQ(names_of_route(*sprayed, router, 4 + router), (Names{"global 0 to 1"}));
  }
  EXPECT_EQ(names_of_route(*sprayed, 1, 6), (Names{"global 0 to 1", "local 1 from 1 to 2"}));

  const auto single = make_dragonfly_links(dragonfly(8, 1, 4, Routing::ecmp));
  EXPECT_EQ(single->paths(1, 6), 4);
  EXPECT_EQ(single->paths(1, 2), 1);
  EXPECT_EQ(names_of_route(*single, 1, 6, 0),
            (Names{"global 0 to 1 cable 1", "local 1 from 1 to 2"}));
  EXPECT_EQ(names_of_route(*single, 1, 6, 1),
            (Names{"local 0 from 1 to 2", "global 0 to 1 cable 2"}));
  EXPECT_EQ(single->capacity(link_called(*single, "global 0 to 1 cable 2")), 15);
  expect_well_formed(*single, 8);
}

// The bandwidth out of a group is the sum of its bundles, whatever the routing.
TEST(Dragonfly, GlobalBandwidth) {
  for (const Routing routing : {Routing::spray, Routing::ecmp}) {
    for (const int groups : {2, 3, 5, 9}) {
      const auto links = make_dragonfly_links(dragonfly(groups * 8, 2, 4, routing));
      double out_Bps = 0;
      for (int link = 0; link < links->count(); ++link) {
        if (links->name(link).starts_with("global 0 to ")) out_Bps += links->capacity(link);
      }
      EXPECT_DOUBLE_EQ(out_Bps, (groups - 1) * 60.0);
    }
  }
}

// A description of where cables are plugged in, independent of the code, which gives the router at
// each end of a link.
struct Plan {
  int routers;
  int groups;
  int gate(int group, int other) const { return ((other - group + groups) % groups - 1) % routers; }
};

TEST(Dragonfly, RoutesLeadFromEndToEndOverAtMostOneBundle) {
  RandomStream random(2, RandomPurpose::test, 0);
  for (int trial = 0; trial < 10; ++trial) {
    const int per_router = 1 + static_cast<int>(random.below(3));
    const int routers = 1 + static_cast<int>(random.below(4));
    const int groups = routers + 1 + static_cast<int>(random.below(4));
    const int full = per_router * routers;
    // The last group may have fewer nodes than routers.
    const int nodes = full * (groups - 1) + 1 + static_cast<int>(random.below(full));
    const auto links = make_dragonfly_links(dragonfly(nodes, per_router, routers));
    const Plan plan{routers, groups};
    for (int from = 0; from < nodes; ++from) {
      for (int to = 0; to < nodes; ++to) {
        if (from == to) continue;
        const int source = from / full;
        const int target = to / full;
        const int start = from / per_router % routers;
        const int end = to / per_router % routers;
        Names expected;
        const auto local = [&](int group, int a, int b) {
          if (a != b) expected.push_back(fmt::format("local {} from {} to {}", group, a, b));
        };
        if (source == target) {
          local(source, start, end);
        } else {
          local(source, start, plan.gate(source, target));
          expected.push_back(fmt::format("global {} to {}", source, target));
          local(target, plan.gate(target, source), end);
        }
        EXPECT_EQ(names_of_route(*links, from, to), expected);
        EXPECT_EQ(links->switch_hops(from, to), static_cast<int>(expected.size()) + 1);
      }
    }
    expect_well_formed(*links, nodes);
  }
}

// Numbers of bundles differ by at most one between the routers of a group.
TEST(Dragonfly, BundlesAreSpreadOverTheRouters) {
  constexpr int kRouters = 4;
  constexpr int kGroups = 12;
  const auto links = make_dragonfly_links(dragonfly(kRouters * kGroups, 1, kRouters));
  std::map<int, int> bundles_of;  // by the group's router with that bundle
  for (int group = 1; group < kGroups; ++group) {
    for (int router = 0; router < kRouters; ++router) {
      const Names names = names_of_route(*links, router, group * kRouters);
      if (names[0].starts_with("global")) ++bundles_of[router];
    }
  }
  for (int router = 0; router < kRouters; ++router) {
    EXPECT_GE(bundles_of[router], (kGroups - 1) / kRouters);
    EXPECT_LE(bundles_of[router], (kGroups - 1) / kRouters + 1);
  }
}

TEST(Dragonfly, AFailedBundleIsReplacedByEveryThirdGroup) {
  Cluster cluster = dragonfly(24, 2, 3);
  cluster.fabric.faults = {{"global 0 to 1", 0}};
  const auto links = make_dragonfly_links(cluster);
  EXPECT_EQ(links->paths(0, 6), 2);
  for (int path = 0; path < 2; ++path) {
    int globals = 0;
    for (const std::string& name : names_of_route(*links, 0, 6, path)) {
      EXPECT_NE(name, "global 0 to 1");
      globals += name.starts_with("global") ? 1 : 0;
    }
    EXPECT_EQ(globals, 2);
  }
  EXPECT_EQ(links->paths(6, 0), 1);  // only one direction failed
  expect_well_formed(*links, 24);

  // Nodes on the same router use detours over different groups.
  EXPECT_NE(names_of_route(*links, 0, 6), names_of_route(*links, 2, 6));
}

TEST(Dragonfly, AFailedLocalCableIsAvoidedInItsGroup) {
  Cluster cluster = dragonfly(24, 2, 3);
  cluster.fabric.faults = {{"local 0 from 1 to 0", 0}, {"global 0 to 2", 0.5}};
  const auto links = make_dragonfly_links(cluster);
  EXPECT_EQ(names_of_route(*links, 2, 0), (Names{"local 0 from 1 to 2", "local 0 from 2 to 0"}));
  EXPECT_EQ(links->switch_hops(2, 0), 3);
  EXPECT_EQ(links->capacity(link_called(*links, "global 0 to 2")), 30);
  expect_well_formed(*links, 24);
}

TEST(Dragonfly, AdaptiveRoutesTakeDetoursByHand) {
  const auto links = make_dragonfly_links(dragonfly(40, 2, 5, Routing::adaptive));
  EXPECT_EQ(links->paths(0, 1), 1);  // same router
  EXPECT_EQ(links->paths(0, 4), 1 + 3);
  EXPECT_EQ(names_of_route(*links, 0, 4, 0), (Names{"local 0 from 0 to 2"}));
  EXPECT_EQ(names_of_route(*links, 0, 4, 1), (Names{"local 0 from 0 to 1", "local 0 from 1 to 2"}));
  EXPECT_EQ(names_of_route(*links, 0, 4, 2), (Names{"local 0 from 0 to 3", "local 0 from 3 to 2"}));
  EXPECT_EQ(names_of_route(*links, 8, 0, 1), (Names{"local 0 from 4 to 1", "local 0 from 1 to 0"}));
  EXPECT_EQ(links->paths(0, 10), 1 + 2);  // detours over groups 2 and 3
  EXPECT_EQ(links->switch_hops(0, 4), 2);
  expect_well_formed(*links, 40);
}

// Path 0 is the minimal route; a detour takes two bundles, or two cables inside the group.
TEST(Dragonfly, AdaptiveRoutesOnRandomForms) {
  for (int i = 0; i < 60; ++i) {
    RandomStream random(3, RandomPurpose::test, i);
    const int per_router = 1 + static_cast<int>(random.below(2));
    const int routers = 1 + static_cast<int>(random.below(6));
    const int nodes = 2 + static_cast<int>(random.below(40));
    Cluster cluster = dragonfly(nodes, per_router, routers, Routing::adaptive);
    const auto links = make_dragonfly_links(cluster);
    cluster.fabric.routing = Routing::spray;
    const auto minimal = make_dragonfly_links(cluster);
    expect_well_formed(*links, nodes);
    for (int to = 1; to < nodes; ++to) {
      EXPECT_EQ(names_of_route(*links, 0, to), names_of_route(*minimal, 0, to));
      const bool in_group = to < per_router * routers;
      for (int way = 1; way < links->paths(0, to); ++way) {
        const Names names = names_of_route(*links, 0, to, way);
        const auto is_global = [](const std::string& name) { return name.starts_with("global"); };
        EXPECT_EQ(std::ranges::count_if(names, is_global), in_group ? 0 : 2);
        if (in_group) {
          EXPECT_EQ(names.size(), 2u);
        }
      }
    }
  }
}

TEST(Dragonfly, AdaptiveRoutesAvoidWhatFailed) {
  Cluster cluster = dragonfly(40, 2, 5, Routing::adaptive);
  cluster.fabric.faults = {{"local 0 from 0 to 2", 0}, {"local 0 from 0 to 1", 0}};
  const auto links = make_dragonfly_links(cluster);
  EXPECT_EQ(links->paths(0, 4), 2);
  expect_well_formed(*links, 40);
}

TEST(Dragonfly, WhatIsNoDragonfly) {
  Cluster cluster = dragonfly(4, 1, 2);
  cluster.fabric.faults = {{"global 0 to 1", 0}};
  EXPECT_EQ(fabric_message(cluster), "the failed links leave no path from node 0 to node 2");
  cluster.fabric.faults = {{"globl 0 to 1", 0.5}};
  EXPECT_EQ(fabric_message(cluster), "unknown link 'globl 0 to 1'; did you mean 'global 0 to 1'?");
  cluster.fabric.faults = {};
  cluster.fabric.global_Bps = {};
  EXPECT_EQ(fabric_message(cluster),
            "a dragonfly needs 'global', the bandwidth between two groups");
  cluster.fabric.routers_per_group = 0;
  EXPECT_EQ(fabric_message(cluster), "a dragonfly needs 'routers_per_group' of at least 1");
}

// A single group needs no bandwidth of bundles, and a single router needs none of local cables.
TEST(Dragonfly, SmallestForms) {
  Cluster cluster = dragonfly(4, 4, 1);
  cluster.fabric.local_Bps = {};
  cluster.fabric.global_Bps = {};
  const auto links = make_dragonfly_links(cluster);
  EXPECT_EQ(links->count(), 0);
  EXPECT_EQ(links->switch_hops(0, 3), 1);
}

TEST(Dragonfly, OfAHundredThousandGpus) {
  Cluster cluster = dragonfly(32768, 4, 32);
  cluster.node.gpus = 4;
  cluster.node.nics = 4;
  const auto links = make_dragonfly_links(cluster);
  EXPECT_EQ(cluster.gpus(), 131072);
  EXPECT_EQ(links->count(), 256 * 32 * 31 + 256 * 255);
  EXPECT_LE(route_of(*links, 1, 131071).size(), 3U);
}

}  // namespace
}  // namespace windtunnel
