// Random collectives on random fabrics: closed form and flows agree on an idle network, and neither
// is faster than the fabric's cuts allow.
#include "models/network/collectives/collective_edges.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>

#include "models/base/random.hpp"
#include "models/machine/fabrics/tree.hpp"
#include "models/network/groups/collective_steps.hpp"
#include "tests/models/network/collective_fixtures.hpp"

namespace windtunnel {
namespace {

using K = CollectiveKind;
using A = CollectiveAlgorithm;

constexpr std::uint64_t kCases = 500;
constexpr std::uint64_t kTorusCases = 100;

struct Case {
  Cluster cluster;
  std::vector<std::int32_t> gpus;
  CollectiveKind kind = K::all_reduce;
  CollectiveAlgorithm algorithm = A::ring;
  double bytes = 0;
};

int pick(RandomStream& random, std::initializer_list<int> values) {
  return *(values.begin() + random.below(values.size()));
}

void set_fabric(RandomStream& random, Cluster& cluster) {
  FabricSpec& fabric = cluster.fabric;
  fabric.hop_latency_s = parameter(3e-7);
  switch (random.below(6)) {
    case 0:
      return;  // a single pod
    case 1:
    case 2:
      fabric.topology = random.below(2) == 0 ? Topology::rail_fat_tree : Topology::fat_tree;
      fabric.nodes_per_pod = pick(random, {2, 3, 4});
      fabric.pod_oversubscription = pick(random, {1, 2, 4});
      return;
    case 3:
      fabric.topology = Topology::clos;
      cluster.nodes = 8;
      fabric.nodes_per_leaf = 2;
      fabric.nodes_per_pod = 4;
      fabric.leaf_oversubscription = pick(random, {1, 2});
      fabric.pod_oversubscription = pick(random, {1, 2});
      return;
    case 4:
      fabric.topology = Topology::rail_only;
      fabric.nodes_per_pod = pick(random, {0, 4});
      return;
    default:
      if (random.below(2) == 0) {
        fabric.topology = Topology::torus;
        fabric.dimensions = {4, cluster.nodes > 4 ? 2 : 1};
        cluster.nodes = 4 * fabric.dimensions[1];
        fabric.link_Bps = parameter(kNic_Bps * pick(random, {2, 4, 8}));
        return;
      }
      fabric.topology = Topology::dragonfly;
      cluster.nodes = 8;
      fabric.nodes_per_router = 2;
      fabric.routers_per_group = pick(random, {2, 4});
      if (random.below(2) == 0) fabric.routing = Routing::adaptive;
      fabric.local_Bps = parameter(kNic_Bps * pick(random, {4, 16}));
      fabric.global_Bps = parameter(kNic_Bps * pick(random, {4, 8}));
  }
}

Case random_case(std::uint64_t index) {
  RandomStream random(1, RandomPurpose::test, index);
  Case made;
  made.cluster = make_cluster(pick(random, {1, 2, 3, 4, 5, 7, 8}), 8, pick(random, {4, 8}));
  set_fabric(random, made.cluster);
  if (random.below(4) == 0) {
    FabricSpec& fabric = made.cluster.fabric;
    fabric.background = {{"nic-in", 0.3}};
    if (is_tree(fabric.topology)) fabric.background.push_back({"pod-up", 0.6});
    if (fabric.topology == Topology::dragonfly) fabric.background.push_back({"local 0", 0.5});
  }
  if (random.below(6) == 0) {
    made.cluster.node.gpu_path = GpuPath::pcie;
    if (random.below(2) == 0) made.cluster.node.host_bridge_Bps = parameter(150e9);
  }
  const int a_node = pick(random, {1, 2, 4, 8});
  const int nodes = made.cluster.nodes;
  made.gpus = strided(a_node * nodes, 8 / a_node);
  if (made.gpus.size() == 1) made.gpus = strided(8, 1);
  const GroupShape shape = group_shape(made.gpus, made.cluster);
  made.kind = static_cast<CollectiveKind>(random.below(static_cast<int>(K::send_recv) + 1));
  // Over PCIe, flows of two speeds share the root's link and leave it idle for a while, which the
  // closed form does not know.
  if (made.kind == K::gather) made.cluster.node.gpu_path = GpuPath::nvlink;
  std::vector<CollectiveAlgorithm> candidates = {A::automatic};
  for (const CollectiveAlgorithm algorithm : algorithms_of(made.kind)) {
    if (why_not(made.kind, algorithm, shape, made.cluster) == nullptr) {
      candidates.push_back(algorithm);
    }
  }
  made.algorithm = candidates[random.below(candidates.size())];
  made.bytes = std::pow(10, 3 + 7 * random.uniform());
  if (made.cluster.node.gpu_path == GpuPath::nvlink && random.below(2) == 0) {
    made.cluster.node.package_gpus = pick(random, {2, 4, 8});
    made.cluster.node.package_Bps = parameter(kNvlink_Bps * pick(random, {1, 4, 20}) / 4);
  }
  return made;
}

// The collective runs on all nodes of a torus.
Case torus_case(std::uint64_t index) {
  RandomStream random(2, RandomPurpose::test, index);
  const std::vector<int> sizes = {pick(random, {2, 3, 4, 5}), pick(random, {1, 2, 4}),
                                  pick(random, {1, 2, 3})};
  Case made;
  made.cluster = make_cluster(sizes[0] * sizes[1] * sizes[2], 8, pick(random, {1, 4, 8}));
  FabricSpec& fabric = made.cluster.fabric;
  fabric.hop_latency_s = parameter(1e-6);
  fabric.topology = Topology::torus;
  fabric.dimensions = sizes;
  fabric.link_Bps = parameter(kNic_Bps * pick(random, {1, 2, 8}));
  const int a_node = pick(random, {1, 2, 4, 8});
  made.gpus = strided(a_node * made.cluster.nodes, 8 / a_node);
  constexpr std::array kKinds = {K::all_reduce, K::all_gather, K::reduce_scatter};
  made.kind = kKinds[random.below(kKinds.size())];
  made.algorithm = A::torus;
  made.bytes = std::pow(10, 3 + 7 * random.uniform());
  return made;
}

std::string text_of(const Case& made, CollectiveAlgorithm ran) {
  const FabricSpec& fabric = made.cluster.fabric;
  return fmt::format(
      "{} by {} of {:.3g} bytes, {} GPUs on {} nodes, packages of {}, {} NICs, form {}, {} a pod",
      to_string(made.kind), to_string(ran), made.bytes, made.gpus.size(), made.cluster.nodes,
      made.cluster.node.package_gpus, made.cluster.node.nics, static_cast<int>(fabric.topology),
      fabric.nodes_per_pod);
}

TEST(CollectiveForms, AgreeOnAnIdleNetwork) {
  const Calibration calibration = make_calibration();
  std::set<std::pair<CollectiveKind, CollectiveAlgorithm>> met;
  int exact = 0;
  for (std::uint64_t index = 0; index < kCases + kTorusCases; ++index) {
    const Case made = index < kCases ? random_case(index) : torus_case(index);
    const GroupShape shape = group_shape(made.gpus, made.cluster);
    const CollectiveCost closed =
        collective_cost(made.kind, made.algorithm, shape, made.bytes, made.cluster, calibration);
    const CollectiveFlows flows = collective_flows(made.kind, made.algorithm, made.gpus, made.bytes,
                                                   made.cluster, calibration);
    met.insert({made.kind, closed.algorithm});
    EXPECT_EQ(flows.algorithm, closed.algorithm);
    const double flows_s = fluid_time(flows, made.gpus, made.cluster);
    EXPECT_NEAR(closed.seconds / flows_s, 1, 0.1) << text_of(made, closed.algorithm);
    // The formula's busiest link carries what the edges put on it.
    const LinkTable links(made.cluster, !flows.demands.empty());
    const double busiest_s = busiest_link_s(flows.edges, made.gpus, links);
    EXPECT_LE(busiest_s, closed.transfer_s * 1.1) << text_of(made, closed.algorithm);
    if (made.cluster.fabric.topology == Topology::rail_fat_tree && shape.load.ring == 0 &&
        flows.demands.empty()) {
      EXPECT_NEAR(busiest_s / closed.transfer_s, 1, 1e-9) << text_of(made, closed.algorithm);
      ++exact;
    }
  }
  size_t rows = 0;
  for (int k = 0; k <= static_cast<int>(K::send_recv); ++k) {
    rows += algorithms_of(static_cast<CollectiveKind>(k)).size();
  }
  EXPECT_EQ(met.size(), rows);  // all algorithms of all kinds
  EXPECT_GT(exact, 50);
}

// --- no result is faster than a cut allows ------------------------------------------------------

// Bytes that must leave the members of `inside` for the others under any algorithm; the first
// member is the root.
double must_leave(const Case& made, const std::vector<bool>& inside) {
  const auto n = static_cast<double>(inside.size());
  const auto in = static_cast<double>(std::count(inside.begin(), inside.end(), true));
  const double out = n - in;
  switch (made.kind) {
    case K::all_reduce:
      return made.bytes;
    case K::reduce_scatter:  // the others need its partial sums
      return made.bytes * out / n;
    case K::all_gather:
      return made.bytes * in / n;
    case K::broadcast:
      return inside[0] ? made.bytes : 0;
    case K::reduce:
      return inside[0] ? 0 : made.bytes;
    case K::gather:
      return inside[0] ? 0 : made.bytes * in / n;
    case K::all_to_all:
      return made.bytes * in * out / n;
    case K::send_recv: {
      double leaving = 0;
      for (size_t i = 0; i < inside.size(); ++i) {
        if (inside[i] && !inside[(i + 1) % inside.size()]) leaving += made.bytes;
      }
      return leaving;
    }
  }
  return 0;
}

// Sums the capacities of links whose names begin with one of `starts`.
double capacity_of(const LinkTable& links, const std::vector<std::string>& starts) {
  double capacity = 0;
  for (LinkId link = 0; link < links.count(); ++link) {
    const std::string name = links.name(link);
    if (std::any_of(starts.begin(), starts.end(), [&](const std::string& start) {
          return name == start || name.starts_with(start + " ");
        })) {
      capacity += links.capacity(link);
    }
  }
  return capacity;
}

// Holds a subset of the members, such as those of some nodes or of a rail, and the bandwidth from
// it to the others.
struct Cut {
  std::vector<bool> inside;
  double capacity_Bps = 0;
};

std::vector<Cut> cuts_of(const Case& made) {
  const LinkTable links(made.cluster);
  const int nodes = made.cluster.nodes;
  const int nics = made.cluster.node.nics;
  std::vector<Cut> cuts;
  // Adds the cut around `count` nodes from `first` on; its bandwidth is that of their NICs, or of
  // other links if these carry less.
  const auto add = [&](int first, int count, double less_Bps) {
    Cut cut;
    for (const int gpu : made.gpus) {
      const int node = made.cluster.node_of(gpu);
      cut.inside.push_back(node >= first && node < first + count);
    }
    std::vector<std::string> ports;
    for (int nic = first * nics; nic < (first + count) * nics; ++nic) {
      ports.push_back(fmt::format("nic-out {}", nic));
    }
    cut.capacity_Bps = std::min(less_Bps, capacity_of(links, ports));
    cuts.push_back(std::move(cut));
  };
  constexpr double kNoLess = std::numeric_limits<double>::infinity();
  for (int node = 0; node < nodes; ++node) add(node, 1, kNoLess);
  add(0, nodes / 2, kNoLess);
  add(nodes / 2, nodes - nodes / 2, kNoLess);
  const FabricSpec& fabric = made.cluster.fabric;
  const bool joined = fabric.topology != Topology::rail_only;
  if (fabric.nodes_per_pod > 0 && joined) {
    for (int pod = 0; pod * fabric.nodes_per_pod < nodes; ++pod) {
      const int first = pod * fabric.nodes_per_pod;
      const int count = std::min(fabric.nodes_per_pod, nodes - first);
      if (count == nodes) continue;
      const double up_Bps = capacity_of(links, {fmt::format("pod-up {}", pod)});
      EXPECT_GT(up_Bps, 0);
      add(first, count, up_Bps);
    }
  }
  if (fabric.topology == Topology::clos) {
    for (int leaf = 0; leaf * fabric.nodes_per_leaf < nodes; ++leaf) {
      const double up_Bps = capacity_of(links, {fmt::format("leaf-up {}", leaf)});
      EXPECT_GT(up_Bps, 0);
      add(leaf * fabric.nodes_per_leaf, fabric.nodes_per_leaf, up_Bps);
    }
  }
  // In a rail-only fabric, rails are connected only inside nodes.
  if (!joined && made.cluster.node.gpu_path == GpuPath::nvlink) {
    Cut rail;
    std::vector<std::string> ports;
    for (const int gpu : made.gpus) {
      rail.inside.push_back(nic_of(made.cluster, gpu) % nics == 0);
      if (rail.inside.back()) ports.push_back(fmt::format("nvlink-out {}", gpu));
    }
    rail.capacity_Bps = capacity_of(links, ports);
    const auto in = std::count(rail.inside.begin(), rail.inside.end(), true);
    if (in > 0 && in < std::ssize(rail.inside)) cuts.push_back(std::move(rail));
  }
  return cuts;
}

TEST(CollectiveForms, NeitherBeatsACutOfTheFabric) {
  const Calibration calibration = make_calibration();
  int bound = 0;
  for (std::uint64_t index = 0; index < kCases; ++index) {
    const Case made = random_case(index);
    if (made.cluster.nodes == 1) continue;
    const GroupShape shape = group_shape(made.gpus, made.cluster);
    const CollectiveCost closed =
        collective_cost(made.kind, made.algorithm, shape, made.bytes, made.cluster, calibration);
    const CollectiveFlows flows = collective_flows(made.kind, made.algorithm, made.gpus, made.bytes,
                                                   made.cluster, calibration);
    const double flows_s = fluid_time(flows, made.gpus, made.cluster);
    for (const Cut& cut : cuts_of(made)) {
      const double least_s = must_leave(made, cut.inside) / cut.capacity_Bps;
      EXPECT_GE(closed.seconds, least_s * (1 - 1e-9)) << text_of(made, closed.algorithm);
      EXPECT_GE(flows_s, least_s * (1 - 1e-9)) << text_of(made, closed.algorithm);
      if (least_s > 0.5 * flows_s) ++bound;
    }
  }
  EXPECT_GT(bound, 100);  // the bound is close often enough
}

}  // namespace
}  // namespace windtunnel
