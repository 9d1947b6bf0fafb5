#include "models/machine/fabrics/sites.hpp"

#include "tests/models/machine/fabric_fixtures.hpp"

namespace windtunnel {
namespace {

Cluster three_sites() {
  Cluster cluster = cluster_of(Topology::sites, 6, 2);
  cluster.fabric.sites = {{"north", 3, 0, Transport::infiniband},
                          {"south", 1, 5, Transport::roce},
                          {"west", 2, 20, Transport::tcp}};
  cluster.fabric.wan_Bps = exactly(4);
  cluster.fabric.wan_latency_s = exactly(0.03);
  return cluster;
}

TEST(Sites, RoutesByHand) {
  const auto links = make_site_links(three_sites());
  EXPECT_EQ(links->count(), 6);
  EXPECT_EQ(names_of_route(*links, 0, 5), Names{});  // nodes 0 and 2, one site
  EXPECT_EQ(names_of_route(*links, 5, 6), (Names{"site-up north", "site-down south"}));
  EXPECT_EQ(names_of_route(*links, 11, 7), (Names{"site-up west", "site-down south"}));
  EXPECT_EQ(links->switch_hops(0, 5), 1);
  EXPECT_EQ(links->switch_hops(5, 6), 3);
  EXPECT_EQ(links->extra_latency_s(0, 5), 0);
  EXPECT_EQ(links->extra_latency_s(11, 7), 0.03);
  for (int link = 0; link < 6; ++link) EXPECT_EQ(links->capacity(link), 4);
  expect_well_formed(*links, 12, 2);
}

TEST(Sites, WhatASiteIs) {
  Cluster cluster = three_sites();
  for (const auto& [node, site] :
       std::vector<std::pair<int, int>>{{0, 0}, {2, 0}, {3, 1}, {5, 2}}) {
    EXPECT_EQ(site_of(cluster, node), site);
  }
  cluster.fabric.topology = Topology::fat_tree;
  EXPECT_EQ(site_of(cluster, 5), 0);
}

TEST(Sites, ADegradedAccess) {
  Cluster cluster = three_sites();
  cluster.fabric.faults = {{"site-down south", 0.25}};
  EXPECT_EQ(make_site_links(cluster)->capacity(3), 1);
}

TEST(Sites, WhatIsNotAListOfSites) {
  Cluster cluster = three_sites();
  cluster.nodes = 7;
  EXPECT_EQ(fabric_message(cluster), "the sites have 6 nodes together, the cluster has 7");
  cluster = three_sites();
  cluster.fabric.faults = {{"site-up south", 0}};
  EXPECT_EQ(fabric_message(cluster), "the failed links leave no path from node 3 to node 0");
  cluster.fabric.faults = {{"site-down north", 0}};
  EXPECT_EQ(fabric_message(cluster), "the failed links leave no path from node 3 to node 0");
  cluster.fabric.faults = {{"site-down nort", 0}};
  EXPECT_EQ(fabric_message(cluster),
            "unknown link 'site-down nort'; did you mean 'site-down north'?");
  cluster = three_sites();
  cluster.fabric.sites[2].name = "south";
  EXPECT_EQ(fabric_message(cluster), "two sites are called 'south'");
  cluster = three_sites();
  cluster.fabric.wan_Bps = {};
  EXPECT_EQ(fabric_message(cluster),
            "more than one site needs 'wan', the bandwidth of a site's access to the others");
}

// A single site is a fat tree with full bisection bandwidth.
TEST(Sites, OneSiteNeedsNoOther) {
  Cluster cluster = cluster_of(Topology::sites, 4);
  cluster.fabric.sites = {{"only", 4, 0, Transport::infiniband}};
  EXPECT_EQ(names_of_route(*make_site_links(cluster), 0, 3), Names{});
}

}  // namespace
}  // namespace windtunnel
