#include "models/links.hpp"

#include <gtest/gtest.h>

#include <map>

namespace windtunnel {
namespace {

Parameter exactly(double value) {
  return {value, value, value, Origin::assumed, "test"};
}

// Pods of two nodes with four GPUs on two NICs (GPUs 0, 1 on NIC 0).
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
  // GPU 2 of node 0 and GPU 7 = GPU 3 of node 1 share rail 1 of pod 0.
  EXPECT_EQ(route(links, 2, 7), (Names{"nic-out 1", "nic-in 3"}));
  // Rail 0 to rail 1 of the same pod goes above it, as does another pod.
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
  // 20 GPUs x 6, 10 NICs x 2, 5 nodes x 5, 6 uplinks x 2, 2 of the storage.
  EXPECT_EQ(capacity.size(), 120u + 20 + 25 + 12 + 2);
  // A rail's uplink: one NIC of each node of the pod over 4; the last pod has one node only.
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
  cluster.node.pcie_Bps = exactly(5);  // two GPUs share a NIC of 10
  EXPECT_EQ(route(LinkTable(cluster, true), 2, 7),
            (Names{"nic-out 1", "pcie-out 2", "pcie-in 7", "nic-in 3"}));
  EXPECT_EQ(route(LinkTable(cluster, true), 1, 3), (Names{"nvlink-out 1", "nvlink-in 3"}));
  EXPECT_EQ(route(LinkTable(cluster), 2, 7), (Names{"nic-out 1", "nic-in 3"}));
  cluster.node.pcie_Bps = exactly(4.9);
  EXPECT_EQ(route(LinkTable(cluster, true), 2, 7), (Names{"nic-out 1", "nic-in 3"}));
}

}  // namespace
}  // namespace windtunnel
