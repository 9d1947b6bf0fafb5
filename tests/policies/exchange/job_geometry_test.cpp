#include "policies/exchange/job_geometry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ranges>

#include "models/base/random.hpp"
#include "policies/iteration.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

// Jobs on trees of all forms, on a torus and on sites, with stages that begin at a node's first GPU
// or elsewhere.
Job random_job(RandomStream& random) {
  Job job = small_job(1 << random.below(4), 1 + static_cast<int>(random.below(6)),
                      (1 << random.below(4)) * (random.below(4) == 0 ? 3 : 1));
  const int per_node = random.below(2) == 0 ? 4 : 8;
  job.cluster = small_cluster((job.layout.ranks() + per_node - 1) / per_node, per_node);
  Cluster& cluster = job.cluster;
  if (random.below(3) == 0) cluster.node.nics = per_node / 2;
  FabricSpec& fabric = cluster.fabric;
  static constexpr Topology kForms[] = {Topology::rail_fat_tree, Topology::fat_tree,
                                        Topology::rail_only,     Topology::clos,
                                        Topology::torus,         Topology::sites};
  fabric.topology = kForms[random.below(6)];
  if (random.below(2) == 0) fabric.nodes_per_pod = 1 + static_cast<int>(random.below(6));
  const int pod =
      fabric.nodes_per_pod > 0 ? std::min(fabric.nodes_per_pod, cluster.nodes) : cluster.nodes;
  fabric.nodes_per_leaf = 1 + static_cast<int>(random.below(pod));
  fabric.dimensions = {cluster.nodes, 1};
  const int first = std::max(1, cluster.nodes / 3);
  fabric.sites = {{.name = "a", .nodes = first}, {.name = "b", .nodes = cluster.nodes - first}};
  if (cluster.nodes == first) fabric.sites.pop_back();
  fabric.wan_Bps = spec(1e9);
  fabric.wan_latency_s = spec(1e-3);
  if (random.below(3) == 0) {
    job.layout.order = {RankAxis::tp, RankAxis::pp, RankAxis::dp};
    if (random.below(2) == 0) std::ranges::reverse(job.layout.order);
    cluster.ranks = rank_map(job.layout);
  }
  return job;
}

// The largest number of a stage's ranks that share a NIC. If ranks are in order, NICs are assumed
// to be filled.
int most_at_one_nic(const Job& job, int pp) {
  const int members = job.layout.ranks() / job.layout.pp;
  const NodeSpec& node = job.cluster.node;
  if (job.cluster.ranks.in_order()) return std::min(members, node.gpus / node.nics);
  std::map<int, int> senders;
  for (int rank = pp * members; rank < (pp + 1) * members; ++rank) {
    ++senders[nic_of(job.cluster, rank)];
  }
  return std::ranges::max(senders | std::views::values);
}

// The route of messages if every rank of one stage sends to the rank at the same position in the
// other.
MessageWay way_of_all(const Job& job, int from_pp, int to_pp) {
  const LinkTable links(job.cluster);
  const int members = job.layout.ranks() / job.layout.pp;
  MessageWay way;
  for (int m = 0; m < members; ++m) {
    const int from = from_pp * members + m;
    const int to = to_pp * members + m;
    way.in_node &= job.cluster.node_of(from) == job.cluster.node_of(to);
    way.in_package &= in_one_package(job.cluster, from, to);
    way.hops = std::max(way.hops, links.switch_hops(from, to));
    way.extra_latency_s = std::max(way.extra_latency_s, links.extra_latency_s(from, to));
  }
  if (!way.in_node) way.at_one_port = most_at_one_nic(job, from_pp);
  return way;
}

TEST(JobGeometry, WaysAreTheLongestOfAllRanks) {
  int across_pods = 0;
  for (int i = 0; i < 400; ++i) {
    RandomStream random(1, RandomPurpose::test, i);
    const Job job = random_job(random);
    const JobGeometry geometry(job);
    for (int from = 0; from < job.layout.pp; ++from) {
      for (int to = 0; to < job.layout.pp; ++to) {
        const MessageWay way = geometry.way(from, to);
        EXPECT_EQ(way, way_of_all(job, from, to)) << i << ": " << from << " to " << to;
        across_pods += way.hops > 1;
      }
    }
    int hops = 1;
    for (int node = 1; node < job.cluster.nodes; ++node) {
      hops = std::max(hops, geometry.links().switch_hops(job.cluster.rank_on(0, 0),
                                                         job.cluster.rank_on(node, 0)));
    }
    EXPECT_GE(geometry.world().fabric_hops, hops);
    if (job.cluster.fabric.topology <= Topology::clos) {
      EXPECT_EQ(geometry.world().fabric_hops, hops);
    }
  }
  EXPECT_GT(across_pods, 1000);
}

TEST(JobGeometry, IsOfJobsThatLieAlike) {
  Job job = small_job(2, 2, 4);
  const SharedGeometry geometry = geometry_of(job);
  EXPECT_EQ(geometry_of(job, geometry), geometry);
  const auto kept = [&](const auto& change) {
    Job other = job;
    change(other);
    return geometry_of(other, geometry) == geometry;
  };
  EXPECT_TRUE(kept([](Job& other) { other.layout.vpp = 2; }));
  EXPECT_TRUE(kept([](Job& other) { other.batch.micro *= 2; }));
  EXPECT_TRUE(kept([](Job& other) { other.schedule.name = "gpipe"; }));
  EXPECT_TRUE(kept([](Job& other) { other.recompute = Recompute::full; }));
  EXPECT_TRUE(kept([](Job& other) { other.calibration.nic_latency_s = spec(1); }));
  EXPECT_FALSE(kept([](Job& other) { std::swap(other.layout.tp, other.layout.dp); }));
  EXPECT_FALSE(kept([](Job& other) { other.layout.sharding = Sharding::zero3; }));
  EXPECT_FALSE(kept([](Job& other) { other.cluster.nodes += 1; }));
  EXPECT_FALSE(kept([](Job& other) { other.cluster.fabric.nodes_per_pod = 1; }));
  EXPECT_FALSE(kept([](Job& other) { other.cluster.degraded_nics = {{0, 0, 0.5}}; }));
  EXPECT_FALSE(kept([](Job& other) { other.communication.compressors.dp.name = "powersgd"; }));
  EXPECT_FALSE(kept([](Job& other) { other.model.tied_embeddings = false; }));
  EXPECT_FALSE(kept([](Job& other) { other.software.reduce_bytes = 2.5; }));
}

// Passing on the geometry of another schedule or of another job does not change the result.
TEST(JobGeometry, HandedDownItChangesNothing) {
  Job job = small_job(2, 2, 4);
  job.layout.sharding = Sharding::zero1;
  job.communication.overlap = GradientOverlap::bucketed;
  PreparedIteration prepared = prepare_iteration(job);
  const IterationEstimate before = estimate_iteration(job, prepared);
  EXPECT_EQ(iteration_step_s(job, prepared), before.step_s);
  Job other = job;
  other.cluster.fabric.nodes_per_pod = 1;
  other.cluster.degraded_nics = {{0, 0, 0.5}};
  const PreparedIteration others = prepare_iteration(other, prepared.geometry);
  EXPECT_NE(others.geometry, prepared.geometry);
  EXPECT_GT(estimate_iteration(other, others).step_s, before.step_s);
  EXPECT_EQ(estimate_iteration(other, prepared).step_s, estimate_iteration(other, others).step_s);
  prepared.geometry = others.geometry;
  EXPECT_EQ(estimate_iteration(job, prepared).step_s, before.step_s);
  prepared.geometry = nullptr;
  EXPECT_EQ(estimate_iteration(job, prepared).step_s, before.step_s);
  EXPECT_EQ(iteration_plan(job, prepared), iteration_plan(job, prepare_iteration(job)));
}

}  // namespace
}  // namespace windtunnel
