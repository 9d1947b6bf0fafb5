// Concurrent flows share links by max-min fairness. Tests compare with cases worked out by hand
// and, for random ones, with progressive filling.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "models/base/random.hpp"
#include "models/machine/links/links.hpp"
#include "sim/engine/engine.hpp"
#include "tests/sim/engine/plan_maker.hpp"
#include "tests/sim/engine/progressive_filling.hpp"

namespace windtunnel {
namespace {

struct Transfer {
  int from = 0;
  int to = 0;  // a GPU; if equal to `from`, a copy to its host, using host memory twice
  double bytes = 0;
  double max_rate = std::numeric_limits<double>::infinity();
};

// Every rank is a class of its own and every transfer has a stream of its own, so all start at 0.
Plan plan_of(const std::vector<Transfer>& transfers, int ranks) {
  Plan plan;
  plan.ranks = ranks;
  for (RankId r = 0; r < ranks; ++r) plan.classes.push_back({"r", {r}, {}, {}, {}, {}});
  const auto add = [&plan](int rank, Task task, int peer, StreamOrder order) {
    RankClass& rank_class = plan.classes[rank];
    task.stream = static_cast<std::int16_t>(rank_class.streams.size());
    task.peer_slot = static_cast<std::int16_t>(rank_class.peers.size());
    rank_class.streams.push_back({"s", order});
    rank_class.peers.push_back({peer});
    rank_class.tasks.push_back(std::move(task));
  };
  for (size_t i = 0; i < transfers.size(); ++i) {
    const Transfer& t = transfers[i];
    const auto tag = static_cast<std::int64_t>(i);
    if (t.from == t.to) {
      add(t.from,
          with_flow(plain(TaskKind::copy, "d", 0, 0), t.bytes,
                    {{Resource::pcie_out, 1}, {Resource::host_memory, 2}}, t.max_rate),
          t.from, StreamOrder::in_order);
      continue;
    }
    add(t.from, send("s", 0, 0, tag, t.bytes), t.to, StreamOrder::in_order);
    add(t.to, recv("r", 0, 0, tag, t.bytes), t.from, StreamOrder::unordered);
  }
  return plan;
}

// Returns the end of every transfer, in their order.
std::vector<double> simulate(const std::vector<Transfer>& transfers, const Cluster& cluster) {
  const Plan plan = plan_of(transfers, cluster.gpus());
  validate_plan(plan);
  EngineOptions options;
  options.fold = FoldMode::none;
  const Timeline timeline = execute(plan, cluster, options);
  std::vector<double> ends;
  std::vector<size_t> next(cluster.gpus(), 0);
  for (const Transfer& t : transfers) {
    ends.push_back(timeline.ranks[t.from].spans[next[t.from]++].end_s);
    if (t.from != t.to) ++next[t.to];
  }
  return ends;
}

std::vector<double> solve(const std::vector<Transfer>& transfers, const Cluster& cluster) {
  const LinkTable links(
      cluster, std::ranges::any_of(transfers, [](const Transfer& t) { return t.from == t.to; }));
  Fluid fluid;
  for (LinkId link = 0; link < links.count(); ++link) {
    fluid.capacity.push_back(links.capacity(link));
  }
  for (const Transfer& t : transfers) {
    std::vector<LinkId> route;
    if (t.from != t.to) links.append_route(t.from, t.to, route);
    if (t.from == t.to) {
      links.append_resource(t.from, Resource::pcie_out, route);
      links.append_resource(t.from, Resource::host_memory, route);
      links.append_resource(t.from, Resource::host_memory, route);
    }
    fluid.routes.push_back(route);
    fluid.left.push_back(t.bytes);
    fluid.max_rate.push_back(t.max_rate);
  }
  return ends_of(fluid);
}

TEST(MaxMin, TwoBottlenecksByHand) {
  // Each node has one GPU and one NIC (10 B/s). The flows are 0->1, 0->2, 3->2 and 3->2, each of 20
  // bytes. Node 2 receives three of them (10/3 each), so 0->1 gets the rest of NIC 0, 20/3, and
  // ends at 3. The others then have 10 bytes left and go on at 10/3 to 6.
  Cluster cluster = small_cluster(4);
  cluster.node.gpus = cluster.node.nics = 1;
  const std::vector<double> ends =
      simulate({{0, 1, 20}, {0, 2, 20}, {3, 2, 20}, {3, 2, 20}}, cluster);
  EXPECT_NEAR(ends[0], 3, 1e-9);
  for (int i : {1, 2, 3}) EXPECT_NEAR(ends[i], 6, 1e-9);
}

TEST(MaxMin, AFasterPartnerTakesWhatIsLeft) {
  // 0->1 and 0->2 share NIC 0, 5 B/s each. If node 1's NIC is degraded to 2 B/s, 0->1 gets 2 and
  // 0->2 gets 8 B/s.
  Cluster cluster = small_cluster(3);
  cluster.node.gpus = cluster.node.nics = 1;
  cluster.degraded_nics = {{1, 0, 0.2}};
  const std::vector<double> ends = simulate({{0, 1, 20}, {0, 2, 40}}, cluster);
  EXPECT_NEAR(ends[0], 10, 1e-9);
  EXPECT_NEAR(ends[1], 5, 1e-9);
}

TEST(MaxMin, ARingRunsAtThePaceOfItsSlowestEdge) {
  // An all-gather of 15 bytes over the first GPUs of nodes 0, 1, 2 sends 10 bytes on each edge of
  // the ring. Rank 0 also sends two messages, so each gets a third of its NIC, and the ring runs at
  // 10/3 B/s for 3 s. Rank 2 (node 1) keeps 20/3 B/s for its message of 14 bytes: 2.1 s. If the
  // edges were independent, rank 2's edge would take 5 B/s until 2 s, and the message would end at
  // 2.4 s.
  const std::vector<Transfer> transfers = {{0, 6, 20}, {0, 8, 20}, {2, 10, 14}};
  const Cluster cluster = small_cluster(6);
  Plan plan = plan_of(transfers, cluster.gpus());
  plan.groups = {{Category::dp, {0, 2, 4}}};
  for (const RankId rank : plan.groups[0].members) {
    RankClass& owner = plan.classes[rank];
    Task gather = collective("gather", static_cast<int>(owner.streams.size()), 0, 0, 0);
    gather.collective = CollectiveKind::all_gather;
    gather.algorithm = CollectiveAlgorithm::ring;
    gather.as_flows = true;
    gather.bytes = 15;
    owner.streams.push_back({"dp", StreamOrder::in_order});
    owner.groups = {{0}};
    owner.tasks.push_back(gather);
  }
  validate_plan(plan);
  EngineOptions options;
  options.fold = FoldMode::none;
  options.calibration.nic_efficiency = options.calibration.nvlink_efficiency = exactly(1);
  const Timeline timeline = execute(plan, cluster, options);
  EXPECT_NEAR(timeline.ranks[4].spans[0].end_s, 3, 1e-9);
  EXPECT_NEAR(timeline.ranks[2].spans[0].end_s, 2.1, 1e-9);
  EXPECT_NEAR(timeline.ranks[0].spans[0].end_s, 5, 1e-9);
  EXPECT_NEAR(timeline.ranks[0].spans[1].end_s, 5, 1e-9);
}

TEST(MaxMin, ManySizesOnOneLinkKeepTheirPrecision) {
  // 1 byte and 1e9 bytes share a NIC of 10 B/s: they take 0.2 s, and 1e8 s + 0.1 s.
  Cluster cluster = small_cluster(2);
  cluster.node.gpus = cluster.node.nics = 1;
  const std::vector<double> ends = simulate({{0, 1, 1}, {0, 1, 1e9}}, cluster);
  EXPECT_NEAR(ends[0], 0.2, 1e-9);
  EXPECT_NEAR(ends[1], 1e8 + 0.1, 1e-4);
}

TEST(MaxMin, RandomTransfersEqualProgressiveFilling) {
  for (int seed = 0; seed < 40; ++seed) {
    RandomStream random(seed, RandomPurpose::test, 1);
    const auto pick = [&random](int bound) { return static_cast<int>(random.below(bound)); };
    Cluster cluster = small_cluster(2 + pick(5));
    cluster.fabric.topology = pick(2) ? Topology::fat_tree : Topology::rail_fat_tree;
    cluster.fabric.nodes_per_pod = pick(3);
    cluster.fabric.pod_oversubscription = 1 + 2 * random.uniform();
    std::vector<Transfer> transfers;
    for (int i = 5 + pick(25); i > 0; --i) {
      Transfer transfer{pick(cluster.gpus()), pick(cluster.gpus()), 1 + 99 * random.uniform()};
      if (transfer.from == transfer.to && pick(2)) transfer.max_rate = 1 + 10 * random.uniform();
      transfers.push_back(transfer);
    }
    const std::vector<double> simulated = simulate(transfers, cluster);
    const std::vector<double> solved = solve(transfers, cluster);
    for (size_t i = 0; i < transfers.size(); ++i) {
      EXPECT_NEAR(simulated[i], solved[i], 1e-9 * solved[i]) << "seed " << seed << " flow " << i;
    }
  }
}

}  // namespace
}  // namespace windtunnel
