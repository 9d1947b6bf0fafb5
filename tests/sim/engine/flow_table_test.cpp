// Collectives of different groups, pipeline sends, expert all-to-all and snapshot copies share
// NICs, uplinks, PCIe and host memory at the same time, by max-min fairness. The engine is compared
// with progressive filling over the edges that collective_flows lists, each on its own links.
#include <gtest/gtest.h>

#include <cmath>

#include "models/base/random.hpp"
#include "models/machine/links/path_choice.hpp"
#include "scenarios/language/text/choices.hpp"
#include "sim/engine/engine.hpp"
#include "tests/sim/engine/plan_maker.hpp"
#include "tests/sim/engine/progressive_filling.hpp"
#include "tests/support/test_names.hpp"

namespace windtunnel {
namespace {

Calibration calibration() {
  Calibration result;
  result.nvlink_efficiency = exactly(0.8);
  result.nic_efficiency = exactly(0.5);
  result.pcie_efficiency = exactly(0.8);
  result.host_memory_efficiency = exactly(0.7);
  return result;
}

// All pieces of traffic start at time 0, each on streams of its own.
class Traffic {
 public:
  explicit Traffic(const Cluster& cluster, bool copies)
      : cluster_(cluster), links_(cluster, copies), chooser_(links_) {
    plan_.ranks = cluster.gpus();
    for (RankId r = 0; r < plan_.ranks; ++r) plan_.classes.push_back({"r", {r}, {}, {}, {}, {}});
    for (LinkId link = 0; link < links_.count(); ++link) {
      fluid_.capacity.push_back(links_.capacity(link));
    }
  }

  void add_collective(CollectiveKind kind, CollectiveAlgorithm algorithm,
                      const std::vector<RankId>& members, double bytes) {
    const auto group = static_cast<std::int32_t>(plan_.groups.size());
    plan_.groups.push_back({Category::dp, members});
    Task task = collective("c", 0, 0, 0, 0);
    task.collective = kind;
    task.algorithm = algorithm;
    task.as_flows = true;
    task.bytes = bytes;
    for (const RankId rank : members) {
      RankClass& owner = plan_.classes[rank];
      task.group_slot = static_cast<std::int16_t>(owner.groups.size());
      owner.groups.push_back({group});
      append(rank, task, StreamOrder::in_order);
    }
    const size_t first_flow = fluid_.routes.size();
    add_strands(collective_flows(kind, algorithm, members, bytes, cluster_, calibration()),
                members);
    for (const RankId rank : members) expect(rank, first_flow);
  }

  void add_send(RankId from, RankId to, double bytes) {
    const auto tag = static_cast<std::int64_t>(fluid_.routes.size());
    append(from, send("s", 0, peer(from, to), tag, bytes), StreamOrder::in_order);
    expect_next(from);
    append(to, recv("r", 0, peer(to, from), tag, bytes), StreamOrder::unordered);
    std::vector<LinkId> route;
    append_edge(from, to, bytes, route);
    add_flow(std::move(route), bytes);
  }

  // A copy to the host uses PCIe once and host memory twice.
  void add_copy(RankId rank, double bytes) {
    append(rank,
           with_flow(plain(TaskKind::copy, "d2h", 0, 0), bytes,
                     {{Resource::pcie_out, 1}, {Resource::host_memory, 2}}),
           StreamOrder::in_order);
    expect_next(rank);
    std::vector<LinkId> route;
    links_.append_resource(rank, Resource::pcie_out, route);
    for (int i = 0; i < 2; ++i) links_.append_resource(rank, Resource::host_memory, route);
    add_flow(std::move(route), bytes);
  }

  size_t demands() const { return demands_; }

  double first_end_s() const {
    EngineOptions options;
    options.calibration = calibration();
    const Timeline timeline = execute(plan_, cluster_, options);
    const Expected& first = expected_.front();
    return timeline.ranks[timeline.recorded_as[first.rank]].spans[first.task].end_s;
  }

  // Compares the engine's end times with those of the fluid model.
  void check(const std::string& what) const {
    validate_plan(plan_);
    const std::vector<double> ends = ends_of(fluid_);
    EngineOptions options;
    options.calibration = calibration();
    for (const FoldMode fold : {FoldMode::none, FoldMode::automatic}) {
      options.fold = fold;
      const Timeline timeline = execute(plan_, cluster_, options);
      for (const Expected& expected : expected_) {
        double end_s = 0;
        for (size_t f = expected.first_flow; f < expected.last_flow; ++f) {
          end_s = std::max(end_s, ends[f]);
        }
        const RankTimeline& rank = timeline.ranks[timeline.recorded_as[expected.rank]];
        EXPECT_NEAR(rank.spans[expected.task].end_s, end_s, 1e-9 * end_s)
            << what << ": rank " << expected.rank << " task " << expected.task;
      }
    }
  }

 private:
  struct Expected {
    RankId rank = 0;
    TaskIndex task = 0;
    size_t first_flow = 0;  // the task ends with the last of these flows
    size_t last_flow = 0;
  };

  TaskIndex append(RankId rank, Task task, StreamOrder order) {
    RankClass& owner = plan_.classes[rank];
    task.stream = static_cast<std::int16_t>(owner.streams.size());
    owner.streams.push_back({"s", order});
    owner.tasks.push_back(std::move(task));
    return static_cast<TaskIndex>(owner.tasks.size()) - 1;
  }

  int peer(RankId rank, RankId other) {
    plan_.classes[rank].peers.push_back({other});
    return static_cast<int>(plan_.classes[rank].peers.size()) - 1;
  }

  void expect(RankId rank, size_t first_flow) {
    expected_.push_back({rank, static_cast<TaskIndex>(plan_.classes[rank].tasks.size()) - 1,
                         first_flow, fluid_.routes.size()});
  }
  void expect_next(RankId rank) {
    expected_.push_back({rank, static_cast<TaskIndex>(plan_.classes[rank].tasks.size()) - 1,
                         fluid_.routes.size(), fluid_.routes.size() + 1});
  }

  void add_flow(std::vector<LinkId> route, double bytes) {
    fluid_.routes.push_back(std::move(route));
    fluid_.left.push_back(bytes);
    fluid_.max_rate.push_back(std::numeric_limits<double>::infinity());
  }

  void append_edge(RankId from, RankId to, double bytes, std::vector<LinkId>& route) {
    for (const PathShare& way : chooser_.choose(from, to, bytes)) {
      links_.append_route(from, to, route, way.path);
    }
  }

  // Edges that wait for each other carry their bytes at one pace; edges with equal bytes are one
  // flow.
  void add_strands(const CollectiveFlows& flows, const std::vector<RankId>& members) {
    std::vector<std::pair<double, std::vector<LinkId>>> pipelined;
    const auto strand_of = [&](double bytes) -> std::vector<LinkId>& {
      auto found = std::ranges::find_if(pipelined, [&](const auto& flow) {
        return std::abs(flow.first - bytes) <= 1e-12 * bytes;
      });
      if (flows.independent || found == pipelined.end()) {
        pipelined.push_back({bytes, {}});
        found = pipelined.end() - 1;
      }
      return found->second;
    };
    for (const CollectiveEdge& edge : flows.edges) {
      append_edge(members[edge.source], members[edge.destination], edge.bytes,
                  strand_of(edge.bytes));
    }
    demands_ += flows.demands.size();
    for (const CollectiveDemand& demand : flows.demands) {
      links_.append_resource(members[demand.member], demand.resource, strand_of(demand.bytes));
    }
    for (auto& [bytes, route] : pipelined) add_flow(std::move(route), bytes);
  }

  const Cluster& cluster_;
  LinkTable links_;
  PathChooser chooser_;
  Plan plan_;
  Fluid fluid_;
  std::vector<Expected> expected_;
  size_t demands_ = 0;  // number of flows of collectives
};

TEST(Contention, TwoRingsOnOneNicShareItByHand) {
  // All-gathers of 30 bytes run over GPU 0 of nodes 0 and 1, and of nodes 0 and 2. Each edge
  // carries 15 / 0.5 = 30 bytes, and both pass NIC 0 of 10 B/s: 5 B/s each, 6 s.
  const Cluster cluster = small_cluster(3);
  Traffic traffic(cluster, false);
  traffic.add_collective(CollectiveKind::all_gather, CollectiveAlgorithm::ring, {0, 2}, 30);
  traffic.add_collective(CollectiveKind::all_gather, CollectiveAlgorithm::ring, {0, 4}, 30);
  traffic.check("two rings");
}

TEST(Contention, SplitPartsFillAllUplinksByHand) {
  // Pods have two nodes with NICs of 10 B/s and two uplinks of 5 B/s. 40 bytes to the other pod
  // take 4 s on both uplinks (10 B/s) and 8 s on one (5 B/s). A second message from the same pod,
  // sent in parts, leaves 5 B/s to each: 8 s.
  Cluster cluster = small_cluster(4);
  cluster.node.gpus = cluster.node.nics = 1;
  cluster.fabric.topology = Topology::fat_tree;
  cluster.fabric.nodes_per_pod = 2;
  cluster.fabric.pod_oversubscription = 2;
  cluster.fabric.uplinks = 2;
  const auto end_s = [&cluster](Routing routing, bool second) {
    cluster.fabric.routing = routing;
    Traffic traffic(cluster, false);
    traffic.add_send(0, 2, 40);
    if (second) traffic.add_send(1, 3, 40);
    return traffic.first_end_s();
  };
  EXPECT_NEAR(end_s(Routing::spray, false), 4, 1e-9);
  EXPECT_NEAR(end_s(Routing::ecmp, false), 8, 1e-9);
  EXPECT_NEAR(end_s(Routing::planned, true), 8, 1e-9);  // one uplink each
  EXPECT_NEAR(end_s(Routing::split_single_path, false), 4, 1e-9);
  EXPECT_NEAR(end_s(Routing::split_single_path, true), 8, 1e-9);
  // One uplink has failed, so that both messages take the other, 5 B/s.
  cluster.fabric.faults = {{"pod-up 0 way 0", 0}};
  for (const Routing routing : {Routing::ecmp, Routing::planned, Routing::split_single_path}) {
    EXPECT_NEAR(end_s(routing, false), 8, 1e-9);
    EXPECT_NEAR(end_s(routing, true), 16, 1e-9);
  }
}

TEST(Contention, HostReductionsBesideCopiesAndRings) {
  // Reductions on hosts pass PCIe and host memory, as snapshot copies do.
  for (int seed = 0; seed < 8; ++seed) {
    RandomStream random(seed, RandomPurpose::test, 40);
    const auto bytes = [&random] { return 5 + 95 * random.uniform(); };
    const Cluster cluster = small_cluster(4);
    Traffic traffic(cluster, true);
    traffic.add_collective(CollectiveKind::all_reduce, CollectiveAlgorithm::hfreduce,
                           {0, 1, 2, 3, 4, 5, 6, 7}, bytes());
    EXPECT_GT(traffic.demands(), 0);
    traffic.add_collective(CollectiveKind::all_gather, CollectiveAlgorithm::ring, {1, 3, 5},
                           bytes());
    traffic.add_copy(2, bytes());
    traffic.add_copy(3, bytes());
    traffic.add_send(5, 7, bytes());
    traffic.check(fmt::format("seed {}", seed));
  }
}

class RandomTraffic : public ::testing::TestWithParam<Routing> {};

TEST_P(RandomTraffic, EqualsProgressiveFilling) {
  for (int seed = 0; seed < 12; ++seed) {
    RandomStream random(seed, RandomPurpose::test, 30 + static_cast<int>(GetParam()));
    const auto pick = [&random](int bound) { return static_cast<int>(random.below(bound)); };
    const auto bytes = [&random] { return 5 + 95 * random.uniform(); };
    Cluster cluster = small_cluster(4 + pick(5));
    cluster.fabric.topology = pick(2) ? Topology::fat_tree : Topology::rail_fat_tree;
    cluster.fabric.nodes_per_pod = 1 + pick(4);
    cluster.fabric.pod_oversubscription = 1 + 2 * random.uniform();
    cluster.fabric.routing = GetParam();
    cluster.fabric.uplinks = 1 + pick(3);
    const bool copies = pick(2) == 0;
    Traffic traffic(cluster, copies);
    // There are two or three groups with crossing strides; one of them may be the experts'
    // all-to-all.
    const std::vector<CollectiveAlgorithm> algorithms = {
        CollectiveAlgorithm::ring, CollectiveAlgorithm::tree, CollectiveAlgorithm::hierarchical,
        CollectiveAlgorithm::halving_doubling, CollectiveAlgorithm::hfreduce};
    const int groups = 2 + pick(2);
    for (int g = 0; g < groups; ++g) {
      std::vector<RankId> members;
      const int stride = 1 + pick(3);
      for (RankId rank = pick(2); rank < cluster.gpus(); rank += stride) members.push_back(rank);
      if (g == 0) {
        traffic.add_collective(CollectiveKind::all_to_all, CollectiveAlgorithm::automatic, members,
                               bytes());
      } else {
        traffic.add_collective(pick(2) ? CollectiveKind::all_reduce : CollectiveKind::all_gather,
                               algorithms[pick(algorithms.size())], members, bytes());
      }
    }
    for (int i = pick(8); i > 0; --i) {
      const RankId from = pick(cluster.gpus());
      const RankId to = pick(cluster.gpus());
      if (from != to) traffic.add_send(from, to, bytes());
    }
    for (int i = copies ? 1 + pick(4) : 0; i > 0; --i) {
      traffic.add_copy(pick(cluster.gpus()), bytes());
    }
    traffic.check(fmt::format("seed {}", seed));
  }
}

// Splitting and planning depend on the order in which the engine asks for paths, so that only
// hashing can be compared.
INSTANTIATE_TEST_SUITE_P(Routings, RandomTraffic, ::testing::Values(Routing::spray, Routing::ecmp),
                         named([](Routing routing) { return name_of(routing); }));

}  // namespace
}  // namespace windtunnel
