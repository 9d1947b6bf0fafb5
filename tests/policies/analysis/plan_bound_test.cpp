#include "policies/analysis/plan_bound.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

// One collective among all GPUs of two nodes of four, with a NIC of 25 GB/s each.
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
  // Half of it in and half of it out again: 1 s. Summed in switches: all of it once.
  EXPECT_DOUBLE_EQ(seconds(all_reduce, CollectiveAlgorithm::ring), 1);
  EXPECT_DOUBLE_EQ(seconds(all_reduce, CollectiveAlgorithm::collnet_direct), 1);
  EXPECT_DOUBLE_EQ(seconds(all_gather, CollectiveAlgorithm::ring), 0.5);
  // Each of four members sends half of its bytes away.
  EXPECT_DOUBLE_EQ(seconds(all_to_all, CollectiveAlgorithm::pairwise), 2);
  EXPECT_DOUBLE_EQ(seconds(send_recv, CollectiveAlgorithm::direct), 1);
}

// Half of what everybody sends goes to node 0, of which its own members send half: without them
// 4 x 50 GB enter it. All for node 1, node 0 sends 400 GB there; on the way back it gets them.
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
  EXPECT_EQ(bound_s(plan, cluster), 0);
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

// The job's nodes may stand anywhere, the last one in the first pod.
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

  // Of a machine of four groups: three bundles of 20 GB/s lead out of each, whatever the way.
  cluster.machine_nodes = 4;
  cluster.fabric = FabricSpec();
  cluster.fabric.topology = Topology::dragonfly;
  cluster.fabric.nodes_per_router = cluster.fabric.routers_per_group = 1;
  cluster.fabric.global_Bps.value = 20e9;
  bound = plan_bound(plan, cluster, CountedTransfers::all);
  EXPECT_DOUBLE_EQ(bound.link_s, 200.0 / 60);
  EXPECT_EQ(bound.link, "bundles of group 0");
  cluster.fabric.background = {{"global 0", 0.5}};
  EXPECT_DOUBLE_EQ(bound_s(plan, cluster), 200.0 / 30);
  cluster.fabric.background = {{"nic-out", 0.95}};
  EXPECT_NEAR(bound_s(plan, cluster), 200.0 / (100 * 0.05), 1e-9);
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

// Kernels of a draw may take less time than calibrated ones.
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
