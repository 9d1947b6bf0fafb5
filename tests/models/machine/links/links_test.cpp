#include "models/machine/links/links.hpp"

#include <gtest/gtest.h>

#include <map>

#include "models/base/error.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

Parameter exactly(double value) {
  return {value, value, value, Origin::assumed, "test"};
}

// Pods have two nodes, and a node has four GPUs on two NICs (GPUs 0, 1 on NIC 0).
Cluster cluster_of(int nodes, Topology topology) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.node.gpus = 4;
  cluster.node.nics = 2;
  cluster.node.nvlink_Bps = exactly(100);
  cluster.node.nic_Bps = exactly(10);
  cluster.fabric.topology = topology;
  cluster.fabric.nodes_per_pod = 2;
  cluster.fabric.pod_oversubscription = 4;
  cluster.storage.write_Bps.value = 33;
  return cluster;
}

std::vector<std::string> route(const LinkTable& links, int from, int to) {
  std::vector<LinkId> ids;
  links.append_route(from, to, ids);
  std::vector<std::string> names;
  for (LinkId id : ids) names.push_back(links.name(id));
  return names;
}

using Names = std::vector<std::string>;

TEST(Links, RoutesInARailFabric) {
  const LinkTable links(cluster_of(5, Topology::rail_fat_tree));
  EXPECT_EQ(route(links, 3, 3), Names{});
  EXPECT_EQ(route(links, 1, 3), (Names{"nvlink-out 1", "nvlink-in 3"}));
  // GPU 2 of node 0 and GPU 7, which is GPU 3 of node 1, share rail 1 of pod 0.
  EXPECT_EQ(route(links, 2, 7), (Names{"nic-out 1", "nic-in 3"}));
  // A route from rail 0 to rail 1 of the same pod crosses the level above, as does one to another
  // pod.
  EXPECT_EQ(route(links, 0, 7),
            (Names{"nic-out 0", "pod-up 0 rail 0", "pod-down 0 rail 1", "nic-in 3"}));
  EXPECT_EQ(route(links, 0, 16),
            (Names{"nic-out 0", "pod-up 0 rail 0", "pod-down 2 rail 0", "nic-in 8"}));
  EXPECT_EQ(links.switch_hops(3, 3), 0);
  EXPECT_EQ(links.switch_hops(1, 3), 1);
  EXPECT_EQ(links.switch_hops(2, 7), 1);
  EXPECT_EQ(links.switch_hops(0, 7), 3);
}

TEST(Links, RoutesInAFatTree) {
  const LinkTable links(cluster_of(5, Topology::fat_tree));
  EXPECT_EQ(route(links, 0, 7), (Names{"nic-out 0", "nic-in 3"}));
  EXPECT_EQ(route(links, 0, 19), (Names{"nic-out 0", "pod-up 0", "pod-down 2", "nic-in 9"}));
}

TEST(Links, CapacitiesFollowTheCluster) {
  Cluster cluster = cluster_of(5, Topology::rail_fat_tree);
  cluster.degraded_nics = {{4, 1, 0.5}};
  const LinkTable links(cluster);
  std::map<std::string, double> capacity;
  for (LinkId link = 0; link < links.count(); ++link) {
    EXPECT_TRUE(capacity.emplace(links.name(link), links.capacity(link)).second)
        << links.name(link);
  }
  // Links are counted as 20 GPUs x 6, 10 NICs x 2, 5 nodes x 5, 6 uplinks x 2, and 2 of the
  // storage.
  EXPECT_EQ(capacity.size(), 120u + 20 + 25 + 12 + 2);
  // A rail's uplink carries one NIC's bandwidth per node of the pod, divided by 4; the last pod has
  // one node only.
  EXPECT_EQ(capacity.at("pod-up 0 rail 1"), 5);
  EXPECT_EQ(capacity.at("pod-down 2 rail 0"), 2.5);
  EXPECT_EQ(capacity.at("nic-in 9"), 5);
  EXPECT_EQ(capacity.at("nic-out 9"), 5);
  EXPECT_EQ(capacity.at("nic-out 8"), 10);
  EXPECT_EQ(capacity.at("nvlink-in 19"), 100);
  EXPECT_EQ(capacity.at("storage-write"), 33);
}

TEST(Links, ResourcesOfAGpu) {
  const LinkTable links(cluster_of(5, Topology::fat_tree));
  const auto names = [&](Resource resource) {
    std::vector<LinkId> ids;
    links.append_resource(6, resource, ids);
    Names result;
    for (LinkId id : ids) result.push_back(links.name(id));
    return result;
  };
  EXPECT_EQ(names(Resource::sm), Names{"sm 6"});
  EXPECT_EQ(names(Resource::hbm), Names{"hbm 6"});
  EXPECT_EQ(names(Resource::pcie_out), Names{"pcie-out 6"});
  EXPECT_EQ(names(Resource::pcie_in), Names{"pcie-in 6"});
  EXPECT_EQ(names(Resource::host_memory), Names{"host-memory 1"});
  EXPECT_EQ(names(Resource::cpu), Names{"cpu 1"});
  EXPECT_EQ(names(Resource::nic_out), Names{"nic-out 3"});
  EXPECT_EQ(names(Resource::nic_in), Names{"nic-in 3"});
  EXPECT_EQ(names(Resource::storage_write), (Names{"storage-out 1", "storage-write"}));
  EXPECT_EQ(names(Resource::storage_read), (Names{"storage-in 1", "storage-read"}));
  EXPECT_EQ(names(Resource::local_disk), Names{"local-disk 1"});
}

TEST(Links, ANicHangsBelowThePcieLinkThatIsWideEnough) {
  Cluster cluster = cluster_of(5, Topology::rail_fat_tree);
  cluster.node.pcie_Bps = exactly(5);  // two such GPUs share a NIC of 10
  EXPECT_EQ(route(LinkTable(cluster, true), 2, 7),
            (Names{"nic-out 1", "pcie-out 2", "pcie-in 7", "nic-in 3"}));
  EXPECT_EQ(route(LinkTable(cluster, true), 1, 3), (Names{"nvlink-out 1", "nvlink-in 3"}));
  EXPECT_EQ(route(LinkTable(cluster), 2, 7), (Names{"nic-out 1", "nic-in 3"}));
  cluster.node.pcie_Bps = exactly(4.9);
  EXPECT_EQ(route(LinkTable(cluster, true), 2, 7), (Names{"nic-out 1", "nic-in 3"}));
}

TEST(Links, RailsThatNothingJoinsAreChangedInTheNode) {
  Cluster cluster = cluster_of(5, Topology::rail_only);
  const LinkTable links(cluster);
  EXPECT_EQ(route(links, 2, 7), (Names{"nic-out 1", "nic-in 3"}));
  // The route to rail 1 goes over GPU 3, which has the receiver's index in the sender's node.
  EXPECT_EQ(route(links, 0, 7), (Names{"nic-out 1", "nvlink-out 0", "nvlink-in 3", "nic-in 3"}));
  EXPECT_EQ(route(links, 0, 18), (Names{"nic-out 1", "nvlink-out 0", "nvlink-in 2",
                                        "pod-up 0 rail 1", "pod-down 2 rail 1", "nic-in 9"}));
  EXPECT_EQ(links.switch_hops(0, 7), 1);
  EXPECT_EQ(links.switch_hops(0, 18), 3);
}

// 13 nodes form pods of 6, 6 and 1, in leaves of 4 and 2. Uplinks of a leaf carry half of the NICs'
// bandwidth, those of a pod half of that.
Cluster clos() {
  Cluster cluster = cluster_of(13, Topology::clos);
  cluster.fabric.nodes_per_pod = 6;
  cluster.fabric.nodes_per_leaf = 4;
  cluster.fabric.leaf_oversubscription = 2;
  cluster.fabric.pod_oversubscription = 2;
  return cluster;
}

double capacity_of(const LinkTable& links, std::string_view name) {
  return links.capacity(links.find(name).value());
}

TEST(Links, ThreeLevels) {
  const LinkTable links(clos());
  EXPECT_EQ(route(links, 0, 13), (Names{"nic-out 0", "nic-in 6"}));
  EXPECT_EQ(route(links, 0, 16), (Names{"nic-out 0", "leaf-up 0", "leaf-down 1", "nic-in 8"}));
  EXPECT_EQ(route(links, 20, 51), (Names{"nic-out 10", "leaf-up 1", "pod-up 0", "pod-down 2",
                                         "leaf-down 4", "nic-in 25"}));
  EXPECT_EQ(links.switch_hops(0, 13), 1);
  EXPECT_EQ(links.switch_hops(0, 16), 3);
  EXPECT_EQ(links.switch_hops(20, 51), 5);
  EXPECT_EQ(capacity_of(links, "leaf-up 0"), 4 * 2 * 10 / 2);
  EXPECT_EQ(capacity_of(links, "leaf-down 3"), 2 * 2 * 10 / 2);
  EXPECT_EQ(capacity_of(links, "leaf-up 4"), 2 * 10 / 2);
  EXPECT_EQ(capacity_of(links, "pod-up 1"), 6 * 2 * 10 / 4);
  EXPECT_EQ(capacity_of(links, "pod-down 2"), 2 * 10 / 4);
  EXPECT_FALSE(links.find("leaf-up 5").has_value());

  Cluster wrong = clos();
  wrong.fabric.nodes_per_leaf = 7;
  EXPECT_THROW(LinkTable{wrong}, Error);
}

TEST(Links, EveryWayHasItsSpine) {
  for (const Topology topology :
       {Topology::rail_fat_tree, Topology::fat_tree, Topology::rail_only, Topology::clos}) {
    for (const int uplinks : {0, 3, 8}) {
      Cluster cluster = clos();
      cluster.fabric.topology = topology;
      cluster.fabric.uplinks = uplinks;
      const LinkTable sprayed(cluster);
      cluster.fabric.routing = Routing::ecmp;
      const LinkTable links(cluster);
      double bundles_Bps = 0;
      double ways_Bps = 0;
      for (LinkId link = 0; link < sprayed.count(); ++link) {
        if (sprayed.fabric_link(link) >= 0) bundles_Bps += sprayed.capacity(link);
      }
      std::map<std::string, int> names;
      for (LinkId link = 0; link < links.count(); ++link) {
        if (links.fabric_link(link) >= 0) ways_Bps += links.capacity(link);
        EXPECT_EQ(++names[links.name(link)], 1) << links.name(link);
      }
      EXPECT_NEAR(ways_Bps, bundles_Bps, 1e-9 * bundles_Bps);
      for (int src = 0; src < 52; src += 3) {
        for (int dst = 0; dst < 52; ++dst) {
          if (src / 4 == dst / 4) continue;
          std::map<LinkId, int> tops;  // how many paths have it on top
          const int paths = links.paths(src, dst);
          for (int path = 0; path < paths; ++path) {
            std::vector<LinkId> ids;
            links.append_route(src, dst, ids, path);
            EXPECT_TRUE(links.name(ids.front()).starts_with("nic-out "));
            EXPECT_EQ(links.name(ids.back()), fmt::format("nic-in {}", dst / 2));
            std::erase_if(ids, [&](LinkId link) { return links.fabric_link(link) < 0; });
            ASSERT_EQ(std::ssize(ids), links.switch_hops(src, dst) - 1);
            if (ids.empty()) continue;
            EXPECT_EQ(++tops[ids[ids.size() / 2 - 1]], 1);
            EXPECT_EQ(++tops[ids[ids.size() / 2]], 1);
          }
        }
      }
    }
  }
}

TEST(Links, WaysByHand) {
  Cluster cluster = cluster_of(5, Topology::rail_fat_tree);
  cluster.fabric.routing = Routing::ecmp;
  cluster.fabric.pod_oversubscription = 1;
  const LinkTable links(cluster);  // two uplinks per rail of a full pod, one in the last pod
  EXPECT_EQ(links.paths(0, 8), 2);
  EXPECT_EQ(links.paths(0, 16), 1);
  EXPECT_EQ(links.paths(0, 4), 1);
  std::vector<LinkId> ids;
  links.append_route(0, 8, ids, 1);
  EXPECT_EQ(links.name(ids[1]), "pod-up 0 rail 0 way 1");
  EXPECT_EQ(links.name(ids[2]), "pod-down 1 rail 0 way 1");
  EXPECT_EQ(links.capacity(ids[1]), 10);
}

TEST(Links, FailedLinksAreAvoided) {
  Cluster cluster = cluster_of(5, Topology::rail_fat_tree);
  cluster.fabric.routing = Routing::ecmp;
  cluster.fabric.pod_oversubscription = 1;
  cluster.fabric.faults = {{"pod-up 0 rail 0 way 0", 0}, {"pod-down 1 rail 1 way 1", 0.25}};
  const LinkTable links(cluster);
  EXPECT_EQ(links.paths(0, 8), 1);
  EXPECT_EQ(links.paths(8, 0), 2);
  EXPECT_EQ(route(links, 0, 8),
            (Names{"nic-out 0", "pod-up 0 rail 0 way 1", "pod-down 1 rail 0 way 1", "nic-in 4"}));
  EXPECT_EQ(capacity_of(links, "pod-down 1 rail 1 way 1"), 2.5);
  EXPECT_EQ(links.paths(2, 10), 2);
  EXPECT_EQ(error_of([&] { route(links, 0, 16); }),
            "there is no path from node 0 to node 4 (NICs 0 and 8): 'pod-up 0 rail 0 way 0' has "
            "failed and "
            "nothing replaces it");

  cluster.fabric.faults = {{"pod-up 0 rial 0 way 0", 0}};
  EXPECT_NE(error_of([&] { LinkTable{cluster}; }).find("did you mean 'pod-up 0 rail 0 way 0'"),
            std::string::npos);
}

TEST(Links, NicsFailAndDifferToo) {
  Cluster cluster = cluster_of(5, Topology::fat_tree);
  cluster.fabric.faults = {{"nic-in 3", 0.5}};
  const LinkTable links(cluster);
  EXPECT_EQ(capacity_of(links, "nic-in 3"), 5);
  EXPECT_EQ(capacity_of(links, "nic-out 3"), 10);
  EXPECT_EQ(nic_factor(cluster, 3), 0.5);
  EXPECT_EQ(nic_factor(cluster, 4), 1);
  cluster.fabric.faults = {{"nic-in 10", 0.5}};
  EXPECT_EQ(error_of([&] { LinkTable{cluster}; }), "unknown link 'nic-in 10'; the NICs are 0 to 9");
  cluster.fabric.faults = {{"nic-in 3", 0}};
  EXPECT_EQ(error_of([&] { nic_factor(cluster, 3); }),
            "'nic-in 3' has failed and nothing replaces it: node 1 is cut off");

  cluster = cluster_of(5000, Topology::fat_tree);
  cluster.fabric.variation = {.sigma = 0.05, .slow_share = 0.1, .slow_factor = 0.5};
  int slow = 0;
  int full = 0;
  for (int nic = 0; nic < 10000; ++nic) {
    const double factor = nic_factor(cluster, nic);
    EXPECT_GT(factor, 0.4);
    EXPECT_LE(factor, 1);
    slow += factor == 0.5;
    full += factor == 1;
  }
  EXPECT_NEAR(slow, 1000, 120);
  EXPECT_NEAR(full, 4500, 200);  // the upper half of the log-normal
}

// Every link whose name begins with these words keeps the bandwidth that other jobs leave, after
// faults.
TEST(Links, OthersTakeTheirShare) {
  Cluster cluster = cluster_of(24, Topology::rail_fat_tree);
  const LinkTable whole(cluster);
  cluster.fabric.background = {{"pod-up", 0.5}, {"pod-up 1", 0.2}, {"nic-in 3", 0.25}};
  cluster.fabric.faults = {{"pod-up 1 rail 1", 0.1}};
  cluster.storage.write_Bps.value = cluster.storage.read_Bps.value = 10e9;
  cluster.storage.background = 0.4;
  const LinkTable links(cluster);
  for (LinkId link = 0; link < links.count(); ++link) {
    const std::string name = links.name(link);
    if (name.starts_with("storage-")) continue;
    double left = name.starts_with("pod-up ") ? 0.5 : 1;
    if (name.starts_with("pod-up 1 ")) left *= 0.8;  // pods 10 and 11 differ
    if (name == "pod-up 1 rail 1") left *= 0.1;
    if (name == "nic-in 3") left = 0.75;
    EXPECT_NEAR(links.capacity(link), left * whole.capacity(link), 1e-6) << name;
  }
  EXPECT_DOUBLE_EQ(links.capacity(*links.find("storage-write")), 6e9);
  EXPECT_DOUBLE_EQ(links.capacity(*links.find("storage-read")), 6e9);
  EXPECT_EQ(nic_factor(cluster, 3), 0.75);
  EXPECT_EQ(nic_factor(cluster, 4), 1);
  EXPECT_TRUE(has_uneven_nics(cluster));
}

TEST(Links, WithoutNvlinkTheHostBridgeJoinsTheGpus) {
  Cluster cluster = cluster_of(5, Topology::fat_tree);
  cluster.node.gpu_path = GpuPath::pcie;
  cluster.node.pcie_Bps = exactly(4);
  EXPECT_EQ(route(LinkTable(cluster), 5, 7), (Names{"pcie-out 5", "pcie-in 7"}));
  cluster.node.host_bridge_Bps = exactly(12);
  const LinkTable links(cluster);
  EXPECT_EQ(route(links, 5, 7), (Names{"pcie-out 5", "host-bridge 1", "pcie-in 7"}));
  EXPECT_EQ(capacity_of(links, "host-bridge 4"), 12);
  // The NIC's traffic crosses the GPUs' PCIe links although the NIC is faster than they are.
  EXPECT_EQ(route(links, 0, 7), (Names{"nic-out 0", "pcie-out 0", "pcie-in 7", "nic-in 3"}));
}

// A root port carries both directions of all traffic to peers, to the host and to a NIC.
TEST(Links, ARootPortIsCrossedBothWays) {
  Cluster cluster = cluster_of(5, Topology::fat_tree);
  cluster.node.gpu_path = GpuPath::pcie;
  cluster.node.pcie_Bps = exactly(4);
  cluster.node.root_port_Bps = exactly(5);
  const LinkTable links(cluster);
  EXPECT_EQ(route(links, 5, 7), (Names{"pcie-out 5", "root-port 5", "pcie-in 7", "root-port 7"}));
  EXPECT_EQ(capacity_of(links, "root-port 19"), 5);
  for (const Resource way : {Resource::pcie_out, Resource::pcie_in}) {
    std::vector<LinkId> crossed;
    links.append_resource(3, way, crossed);
    ASSERT_EQ(crossed.size(), 2U);
    EXPECT_EQ(links.name(crossed[1]), "root-port 3");
  }
  EXPECT_EQ(cluster.node.pcie_one_way_Bps(), 4);
  EXPECT_EQ(cluster.node.pcie_both_ways_Bps(), 2.5);
}

TEST(Links, PackagesAreJoinedByLinksOfTheirOwn) {
  Cluster cluster = cluster_of(5, Topology::fat_tree);
  cluster.node.package_gpus = 2;
  cluster.node.package_Bps = exactly(300);
  const LinkTable links(cluster);
  EXPECT_EQ(route(links, 5, 4), (Names{"package-out 5", "package-in 4"}));
  EXPECT_EQ(route(links, 5, 6), (Names{"nvlink-out 5", "nvlink-in 6"}));
  EXPECT_EQ(route(links, 3, 4), route(LinkTable(cluster_of(5, Topology::fat_tree)), 3, 4));
  EXPECT_EQ(capacity_of(links, "package-in 19"), 300);
  EXPECT_EQ(&inner_port(cluster.node, true), &cluster.node.package_Bps);
  EXPECT_EQ(&inner_port(cluster.node, false), &cluster.node.nvlink_Bps);
}

}  // namespace
}  // namespace windtunnel
