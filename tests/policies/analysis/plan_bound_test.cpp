#include "policies/analysis/plan_bound.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

// The plan has one collective among all GPUs of two nodes of four, with a NIC of 25 GB/s each.
Plan plan_of(CollectiveKind kind, CollectiveAlgorithm algorithm, double bytes) {
  Plan plan;
  plan.ranks = 8;
  Group& group = plan.groups.emplace_back();
  group.members.resize(8);
  std::iota(group.members.begin(), group.members.end(), 0);
  RankClass& owner = plan.classes.emplace_back();
  owner.members = group.members;
  owner.groups = {std::vector<std::int32_t>(8, 0)};
  Task& task = owner.tasks.emplace_back();
  task.kind = TaskKind::collective;
  task.collective = kind;
  task.algorithm = algorithm;
  task.bytes = bytes;
  task.group_slot = 0;
  return plan;
}

double bound_s(const Plan& plan, const Cluster& cluster) {
  return plan_bound(plan, cluster, CountedTransfers::all).link_s;
}

TEST(PlanBound, CountsWhatHasToLeaveANode) {
  const Cluster cluster = small_cluster(2, 4);
  using enum CollectiveKind;
  const auto seconds = [&](CollectiveKind kind, CollectiveAlgorithm algorithm) {
    return bound_s(plan_of(kind, algorithm, 100e9), cluster);
  };
  // Half of the buffer enters a node and leaves it again, which takes 1 s. If switches sum, all of
  // it passes once.
  EXPECT_DOUBLE_EQ(seconds(all_reduce, CollectiveAlgorithm::ring), 1);
  EXPECT_DOUBLE_EQ(seconds(all_reduce, CollectiveAlgorithm::collnet_direct), 1);
  EXPECT_DOUBLE_EQ(seconds(all_gather, CollectiveAlgorithm::ring), 0.5);
  // Each of four members sends half of its bytes to the other node.
  EXPECT_DOUBLE_EQ(seconds(all_to_all, CollectiveAlgorithm::pairwise), 2);
  EXPECT_DOUBLE_EQ(seconds(send_recv, CollectiveAlgorithm::direct), 1);
}

// Half of each rank's bytes go to node 0. Half of these come from node 0's own members; the others,
// 4 x 50 GB, enter the node. If all bytes go to node 1, node 0 sends 400 GB there, and receives as
// much on the way back.
TEST(PlanBound, CountsWhatEachMemberGets) {
  const Cluster cluster = small_cluster(2, 4);
  Plan plan = plan_of(CollectiveKind::all_to_all, CollectiveAlgorithm::pairwise, 100e9);
  plan.classes[0].tasks[0].exchange = 0;
  plan.exchanges = {{{0, 0, 0, 4, 1, 1, 1, 1}, std::nullopt}};
  EXPECT_DOUBLE_EQ(bound_s(plan, cluster), 2);
  plan.exchanges = {{{0, 0, 0, 0, 2, 2, 2, 2}, std::nullopt}};
  PlanBound bound = plan_bound(plan, cluster, CountedTransfers::all);
  EXPECT_DOUBLE_EQ(bound.link_s, 4);
  plan.classes[0].tasks[0].returns = true;
  EXPECT_DOUBLE_EQ(bound_s(plan, cluster), 4);
  plan.exchanges[0].locality = 1;
  plan.exchanges[0].received.clear();
  // Three quarters of what a GPU sends goes to other GPUs of its node.
  bound = plan_bound(plan, cluster, CountedTransfers::all);
  EXPECT_DOUBLE_EQ(bound.link_s, 0.75 * 100e9 / cluster.node.nvlink_Bps.value);
  EXPECT_EQ(bound.link, "ports of GPU 0");
}

TEST(PlanBound, KnowsPodsSlowNicsAndClosedForms) {
  Cluster cluster = small_cluster(2, 4);
  const Plan plan = plan_of(CollectiveKind::all_to_all, CollectiveAlgorithm::pairwise, 100e9);
  EXPECT_EQ(plan_bound(plan, cluster, CountedTransfers::as_flows).link_s, 0);
  cluster.degraded_nics = {{.node = 1, .nic = 2, .factor = 0.5}};
  EXPECT_DOUBLE_EQ(bound_s(plan, cluster), 200e9 / (3.5 * 25e9));
  cluster.degraded_nics.clear();
  cluster.fabric.nodes_per_pod = 1;
  cluster.fabric.pod_oversubscription = 4;
  const PlanBound bound = plan_bound(plan, cluster, CountedTransfers::all);
  EXPECT_DOUBLE_EQ(bound.link_s, 8);
  EXPECT_EQ(bound.link, "uplinks of pod 0");
}

// The job's nodes may be anywhere on the machine, with the last one in the first pod.
TEST(PlanBound, CountsPodsWhereNodesStand) {
  Cluster cluster = small_cluster(2, 4);
  cluster.fabric.nodes_per_pod = 1;
  cluster.fabric.pod_oversubscription = 4;
  cluster.machine_nodes = 6;
  cluster.places = {5, 0};
  const Plan plan = plan_of(CollectiveKind::all_to_all, CollectiveAlgorithm::pairwise, 100e9);
  EXPECT_DOUBLE_EQ(bound_s(plan, cluster), 8);
}

TEST(PlanBound, CountsGroupsOfADragonflyAndWhatOthersTake) {
  Cluster cluster = small_cluster(2, 4);
  cluster.fabric.nodes_per_pod = 1;
  cluster.fabric.pod_oversubscription = 4;
  cluster.fabric.background = {{"pod-down 1", 0.5}};
  const Plan plan = plan_of(CollectiveKind::all_to_all, CollectiveAlgorithm::pairwise, 100e9);
  PlanBound bound = plan_bound(plan, cluster, CountedTransfers::all);
  EXPECT_DOUBLE_EQ(bound.link_s, 16);
  EXPECT_EQ(bound.link, "uplinks of pod 1");

  // On a machine of four groups, three bundles of 20 GB/s leave each group, under any routing.
  cluster.machine_nodes = 4;
  cluster.fabric = FabricSpec();
  cluster.fabric.topology = Topology::dragonfly;
  cluster.fabric.nodes_per_router = cluster.fabric.routers_per_group = 1;
  cluster.fabric.global_Bps.value = 20e9;
  EXPECT_DOUBLE_EQ(bound_s(plan, cluster), 200.0 / 20);  // minimal paths use a single bundle
  cluster.fabric.routing = Routing::adaptive;
  bound = plan_bound(plan, cluster, CountedTransfers::all);
  EXPECT_DOUBLE_EQ(bound.link_s, 200.0 / 60);
  EXPECT_EQ(bound.link, "bundles of group 0");
  cluster.fabric.background = {{"global 0", 0.5}};
  EXPECT_DOUBLE_EQ(bound_s(plan, cluster), 200.0 / 30);
  cluster.fabric.background = {{"nic-out", 0.95}};
  EXPECT_NEAR(bound_s(plan, cluster), 200.0 / (100 * 0.05), 1e-9);
}

// In an all-to-all of 100 GB per rank over four nodes, each of a node's four GPUs sends 25 GB x 4
// to every other node.
Plan exchange_of(int nodes) {
  Plan plan = plan_of(CollectiveKind::all_to_all, CollectiveAlgorithm::pairwise, 25e9 * nodes);
  plan.ranks = 4 * nodes;
  plan.groups[0].members.resize(plan.ranks);
  std::iota(plan.groups[0].members.begin(), plan.groups[0].members.end(), 0);
  plan.classes[0].members = plan.groups[0].members;
  plan.classes[0].groups[0].resize(plan.ranks, 0);
  return plan;
}

Cluster cluster_on(Topology topology, int nodes) {
  Cluster cluster = small_cluster(nodes, 4);
  cluster.fabric = FabricSpec();
  cluster.fabric.topology = topology;
  return cluster;
}

// Any two nodes exchange 4 x 25 GB in each direction. On a torus of 4 x 1 each cable carries
// traffic to the next node, two cables connect the halves, and dimension order decides the rest.
TEST(PlanBound, CountsCablesOfATorus) {
  Cluster cluster = cluster_on(Topology::torus, 4);
  cluster.fabric.dimensions = {4, 1};
  cluster.fabric.link_Bps.value = 10e9;
  const Plan plan = exchange_of(4);
  PlanBound bound = plan_bound(plan, cluster, CountedTransfers::all);
  // Two of four nodes send 4 x 100 GB to the others over two cables, which takes 20 s. All pairs at
  // distance two go round in the same direction, so that one cable carries 1 + 2 times 100 GB.
  EXPECT_DOUBLE_EQ(bound.link_s, 30);
  EXPECT_EQ(bound.link, "torus 0 +x");
  cluster.fabric.routing = Routing::ecmp;  // one dimension has one route
  EXPECT_DOUBLE_EQ(bound_s(plan, cluster), 30);
  // On a square, traffic to the far corner may take either direction, over two cables of each node.
  cluster.fabric.dimensions = {2, 2};
  bound = plan_bound(plan, cluster, CountedTransfers::all);
  EXPECT_DOUBLE_EQ(bound.link_s, 20);
  EXPECT_EQ(bound.link, "cables of plane x = 0");
  // Collectives that choose their own routes are bounded by the cuts only.
  Plan reduced = exchange_of(4);
  reduced.classes[0].tasks[0].collective = CollectiveKind::all_reduce;
  reduced.classes[0].tasks[0].algorithm = CollectiveAlgorithm::ring;
  EXPECT_DOUBLE_EQ(bound_s(reduced, cluster), 2 * 100 * 0.75 / 20);
}

TEST(PlanBound, CountsCablesOfAGraph) {
  Cluster cluster = cluster_on(Topology::graph, 4);
  for (int node = 0; node < 4; ++node) {
    cluster.fabric.edges.push_back(
        {fmt::format("node {}", node), node < 2 ? "left" : "right", 200e9});
  }
  cluster.fabric.edges.push_back({"left", "right", 20e9});
  const Plan plan = exchange_of(4);
  PlanBound bound = plan_bound(plan, cluster, CountedTransfers::all);
  EXPECT_DOUBLE_EQ(bound.link_s, 4 * 100.0 / 20);
  // Two cables join the switches directly, and one path leads through a third switch; routing uses
  // shortest paths only.
  cluster.fabric.edges.push_back({"left", "between", 20e9});
  cluster.fabric.edges.push_back({"between", "right", 20e9});
  EXPECT_DOUBLE_EQ(bound_s(plan, cluster), 20);
  // Two paths are equally long: either may carry all the traffic, but the cut counts both.
  cluster.fabric.edges[4] = {"left", "other", 20e9};
  cluster.fabric.edges.push_back({"other", "right", 20e9});
  cluster.fabric.routing = Routing::ecmp;
  EXPECT_DOUBLE_EQ(bound_s(plan, cluster), 10);
}

TEST(PlanBound, CountsPortsAndBridgesInsideANode) {
  Cluster cluster = small_cluster(1, 4);
  const double port_Bps = cluster.node.nvlink_Bps.value;
  const auto seconds = [&](CollectiveKind kind, CollectiveAlgorithm algorithm) {
    Plan plan = exchange_of(1);
    plan.classes[0].tasks[0].collective = kind;
    plan.classes[0].tasks[0].algorithm = algorithm;
    return bound_s(plan, cluster);
  };
  using enum CollectiveKind;
  EXPECT_DOUBLE_EQ(seconds(all_to_all, CollectiveAlgorithm::direct), 0.75 * 25e9 / port_Bps);
  EXPECT_DOUBLE_EQ(seconds(all_reduce, CollectiveAlgorithm::ring), 1.5 * 25e9 / port_Bps);
  EXPECT_DOUBLE_EQ(seconds(all_reduce, CollectiveAlgorithm::nvls), 25e9 / port_Bps);
  EXPECT_EQ(seconds(all_reduce, CollectiveAlgorithm::hfreduce), 0);
  cluster.node.package_gpus = 2;
  cluster.node.package_Bps = spec(10 * port_Bps);
  EXPECT_DOUBLE_EQ(seconds(all_to_all, CollectiveAlgorithm::direct), 0.5 * 25e9 / port_Bps);
  cluster.node.package_gpus = 1;
  cluster.node.gpu_path = GpuPath::pcie;
  EXPECT_DOUBLE_EQ(seconds(all_to_all, CollectiveAlgorithm::direct),
                   0.75 * 25e9 / cluster.node.pcie_Bps.value);
  cluster.node.host_bridge_Bps = spec(10e9);
  EXPECT_DOUBLE_EQ(seconds(all_to_all, CollectiveAlgorithm::direct), 4 * 0.75 * 25 / 10);
}

// Node 0 sends to node 2 over the common network, and to node 1 over the nodes' own NICs.
TEST(PlanBound, CountsNetworksApart) {
  Cluster cluster = cluster_on(Topology::fat_tree, 4);
  cluster.fabric.nodes_per_pod = 1;
  cluster.fabric.pod_oversubscription = 4;
  cluster.pools = {{.name = "a", .nodes = 2, .node = cluster.node, .network = "a"},
                   {.name = "b", .nodes = 2, .node = cluster.node, .network = "b"}};
  cluster.shared = shared_node(cluster.pools);
  cluster.common.node_Bps = spec(1e9);
  Plan plan = exchange_of(4);
  PlanBound bound = plan_bound(plan, cluster, CountedTransfers::all);
  EXPECT_DOUBLE_EQ(bound.link_s, 4 * 100.0 / 2);
  EXPECT_EQ(bound.link, "common accesses of network 0");
  // A group inside one network uses that network's uplinks only: 25 GB/s per pod.
  plan.groups[0].members.resize(8);
  cluster.common.node_Bps = spec(1000e9);
  bound = plan_bound(plan, cluster, CountedTransfers::all);
  EXPECT_DOUBLE_EQ(bound.link_s, 8);
  EXPECT_EQ(bound.link, "uplinks of pod 0");
}

// A message has one route; copies and writes to storage are counted as the Plan states them.
TEST(PlanBound, CountsSingleLinks) {
  Cluster cluster = small_cluster(2, 4);
  Plan plan;
  plan.ranks = 8;
  RankClass& owner = plan.classes.emplace_back();
  owner.members = {0};
  owner.peers = {{5}};
  Task& message = owner.tasks.emplace_back();
  message.kind = TaskKind::send;
  message.bytes = 50e9;
  message.peer_slot = 0;
  PlanBound bound = plan_bound(plan, cluster, CountedTransfers::all);
  EXPECT_DOUBLE_EQ(bound.link_s, 2);
  EXPECT_EQ(bound.link, "nic-out 0");
  Task& copy = owner.tasks.emplace_back();
  copy.kind = TaskKind::copy;
  copy.flows = {{.amount = 40 * cluster.node.host_memory_Bps.value,
                 .demands = {{Resource::pcie_out, 1}, {Resource::host_memory, 2}}}};
  bound = plan_bound(plan, cluster, CountedTransfers::all);
  EXPECT_GE(bound.link_s, 80);
}

TEST(PlanBound, TheBusiestGpuComputes) {
  Cluster cluster = small_cluster(2, 4);
  Plan plan = plan_of(CollectiveKind::all_gather, CollectiveAlgorithm::ring, 1);
  Task& kernel = plan.classes[0].tasks.emplace_back();
  kernel.cost = {{Category::forward, Origin::spec, 2}, {Category::host, Origin::spec, 1}};
  EXPECT_DOUBLE_EQ(plan_bound(plan, cluster, CountedTransfers::all).compute_s, 3);
  cluster.slow_nodes = {{.node = 1, .slowdown = 2}};
  EXPECT_DOUBLE_EQ(plan_bound(plan, cluster, CountedTransfers::all).seconds(), 5);
}

// The kernels of a draw may take less time than the calibrated ones.
TEST(PlanBound, KernelsHaveThePaceOfTheirDraw) {
  Cluster cluster = small_cluster(2, 4);
  Plan plan = plan_of(CollectiveKind::all_gather, CollectiveAlgorithm::ring, 1);
  plan.classes[0].tasks.emplace_back().cost = {{Category::forward, Origin::spec, 2}};
  cluster.jitter.sigma = 0.3;
  int less = 0;
  for (plan.draw = 0; plan.draw < 20; ++plan.draw) {
    const double seconds = plan_bound(plan, cluster, CountedTransfers::all).compute_s;
    EXPECT_GT(seconds, 0);
    less += seconds < 2;
  }
  EXPECT_GT(less, 0);
}

}  // namespace
}  // namespace windtunnel
