#include "models/network/groups/group_shape.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "models/base/error.hpp"
#include "models/network/groups/collective_steps.hpp"
#include "models/network/groups/fabric_load.hpp"

namespace windtunnel {
namespace {

int ceil_divide(int a, int b) {
  return (a + b - 1) / b;
}

// The members node by node. Nodes are in the order of their first members, the members of a node in
// the given order.
class MembersByNode {
 public:
  MembersByNode(std::span<const std::int32_t> gpus, const Cluster& cluster)
      : gpus_(gpus.begin(), gpus.end()) {
    const auto node_of = [&](std::int32_t gpu) { return cluster.node_of(gpu); };
    if (!std::ranges::is_sorted(gpus_, {}, node_of)) {
      std::unordered_map<int, int> place_of;
      for (const std::int32_t gpu : gpus_) {
        place_of.try_emplace(node_of(gpu), static_cast<int>(place_of.size()));
      }
      std::ranges::stable_sort(gpus_, {},
                               [&](std::int32_t gpu) { return place_of.at(node_of(gpu)); });
    }
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      if (i == 0 || node_of(gpus_[i]) != node_of(gpus_[i - 1])) begins_.push_back(i);
    }
  }

  std::size_t nodes() const { return begins_.size(); }
  std::span<const std::int32_t> of(std::size_t place) const {
    const std::size_t end = place + 1 < begins_.size() ? begins_[place + 1] : gpus_.size();
    return std::span(gpus_).subspan(begins_[place], end - begins_[place]);
  }

 private:
  std::vector<std::int32_t> gpus_;
  std::vector<std::size_t> begins_;  // [place of the node]
};

int most_behind_one_nic(std::span<const std::int32_t> of_node, const Cluster& cluster) {
  if (of_node.size() == 1) return 1;
  std::vector<std::int32_t> members(of_node.begin(), of_node.end());
  std::ranges::sort(members, {}, [&](std::int32_t gpu) { return cluster.slot_of(gpu); });
  int most = 0;
  int behind = 0;
  int last_nic = -1;
  for (const std::int32_t gpu : members) {
    const int nic = nic_of(cluster, gpu);
    behind = nic == last_nic ? behind + 1 : 1;
    last_nic = nic;
    most = std::max(most, behind);
  }
  return most;
}

int pool_of_all(std::span<const std::int32_t> gpus, const Cluster& cluster) {
  if (cluster.pools.empty()) return -1;
  const int pool = cluster.pool_of(gpus.front());
  const bool all =
      std::ranges::all_of(gpus, [&](std::int32_t gpu) { return cluster.pool_of(gpu) == pool; });
  return all ? pool : -1;
}

}  // namespace

NodePorts worse(const NodePorts& a, const NodePorts& b) {
  NodePorts worst;
  for (std::size_t i = 0; i < worst.size(); ++i) {
    worst[i] = {std::max(a[i].package, b[i].package), std::max(a[i].node, b[i].node)};
  }
  return worst;
}

NodePorts node_ports(std::span<const std::int32_t> members, int place, const Cluster& cluster) {
  NodePorts ports;
  static_assert(ports.size() == static_cast<std::size_t>(Pattern::shifts) + 1);
  if (cluster.node.package_gpus == 1) return ports;
  for (std::size_t pattern = 0; pattern < ports.size(); ++pattern) {
    // What each member sends [0] and receives [1].
    std::array<std::vector<PortShares>, 2> loads;
    loads.fill(std::vector<PortShares>(members.size()));
    const Pattern inside = inside_node(static_cast<Pattern>(pattern), place);
    for_each_edge(inside, members.size(), [&](std::size_t from, std::size_t to, double share) {
      const bool close = in_one_package(cluster, members[from], members[to]);
      for (PortShares* load : {&loads[0][from], &loads[1][to]}) {
        (close ? load->package : load->node) += share;
      }
    });
    for (const auto& direction : loads) {
      for (const PortShares& load : direction) {
        ports[pattern] = {std::max(ports[pattern].package, load.package),
                          std::max(ports[pattern].node, load.node)};
      }
    }
  }
  return ports;
}

double worst_nic_factor(std::span<const std::int32_t> gpus, int pool, const Cluster& cluster) {
  const NodeSpec& node = cluster.node_of_pool(pool);
  double worst = std::numeric_limits<double>::infinity();  // not 1: a site's NICs may be faster
  bool apart = false;
  for (const std::int32_t gpu : gpus) {
    worst = std::min(worst, nic_share(cluster, gpu, node));
    apart = apart || cluster.apart(gpus.front(), gpu);
  }
  if (!apart) return worst;
  return std::min(worst, cluster.common.node_Bps.value / (node.nics * node.nic_Bps.value));
}

void set_nic_factors(std::span<const std::int32_t> gpus, const Cluster& cluster,
                     GroupShape& shape) {
  shape.nic_factor = shape.own_nic_factor = worst_nic_factor(gpus, shape.pool, cluster);
  if (!cluster.networks_differ() || shape.nodes == 1) return;
  const NodeSpec& node = cluster.node_of_pool(shape.pool);
  std::map<std::string_view, std::set<int>> nodes;  // of each network
  shape.own_nic_factor = std::numeric_limits<double>::infinity();
  for (const std::int32_t gpu : gpus) {
    nodes[cluster.pools[cluster.pool_of(gpu)].network].insert(cluster.node_of(gpu));
    shape.own_nic_factor = std::min(shape.own_nic_factor, nic_share(cluster, gpu, node));
  }
  for (const auto& [network, own] : nodes) {
    const auto others = static_cast<double>(shape.nodes - std::ssize(own));
    shape.crossing_pairs = std::max(shape.crossing_pairs, others / (shape.nodes - 1));
  }
}

GroupShape group_shape(std::span<const std::int32_t> gpus, const Cluster& cluster) {
  return group_shape(gpus, LinkTable::keeping_reference(cluster));
}

GroupShape group_shape(std::span<const std::int32_t> gpus, const LinkTable& links) {
  CHECK(!gpus.empty(), "a collective needs members");
  const Cluster& cluster = links.cluster();
  const MembersByNode nodes(gpus, cluster);
  GroupShape shape;
  shape.members = static_cast<int>(gpus.size());
  shape.members_per_node = shape.members;
  shape.nodes = static_cast<int>(nodes.nodes());
  shape.pool = pool_of_all(gpus, cluster);
  for (std::size_t place = 0; place < nodes.nodes(); ++place) {
    const auto members = nodes.of(place);
    shape.members_per_node = std::min(shape.members_per_node, static_cast<int>(members.size()));
    shape.members_per_nic = std::max(shape.members_per_nic, most_behind_one_nic(members, cluster));
  }
  set_nic_factors(gpus, cluster, shape);
  Lanes lanes;
  lanes.lanes = shape.members_per_node;
  const bool packages = cluster.node.package_gpus > 1;
  for (std::size_t place = 0; place < nodes.nodes(); ++place) {
    const auto members = nodes.of(place);
    if (packages) {
      shape.ports = worse(shape.ports, node_ports(members, static_cast<int>(place), cluster));
    }
    lanes.gpus.insert(lanes.gpus.end(), members.begin(), members.begin() + lanes.lanes);
  }
  const LongestWay way = longest_way(lanes, links);
  shape.fabric_hops = way.hops;
  shape.extra_latency_s = way.extra_latency_s;
  shape.load = fabric_load(lanes, links);
  if (const auto box = torus_box(lanes, cluster)) {
    shape.torus_steps = box->steps();
    shape.torus_hops = box->hops();
  }
  return shape;
}

GroupShape among_concurrent(GroupShape shape, const Cluster& cluster) {
  const NodeSpec& node = cluster.node_of_pool(shape.pool);
  const int gpus_per_nic = ceil_divide(node.gpus, std::max(1, node.nics));
  shape.concurrent_per_nic = ceil_divide(gpus_per_nic, shape.members_per_nic);
  shape.concurrent_per_node = ceil_divide(node.gpus, shape.members_per_node);
  return shape;
}

GroupShape worse(const GroupShape& a, const GroupShape& b) {
  GroupShape worst;
  worst.members = std::max(a.members, b.members);
  worst.members_per_node = std::min(a.members_per_node, b.members_per_node);
  worst.nodes = std::max(a.nodes, b.nodes);
  worst.pool = a.pool == b.pool ? a.pool : -1;
  worst.fabric_hops = std::max(a.fabric_hops, b.fabric_hops);
  worst.members_per_nic = std::max(a.members_per_nic, b.members_per_nic);
  worst.nic_factor = std::min(a.nic_factor, b.nic_factor);
  worst.crossing_pairs = std::max(a.crossing_pairs, b.crossing_pairs);
  worst.own_nic_factor = std::min(a.own_nic_factor, b.own_nic_factor);
  worst.concurrent_per_nic = std::max(a.concurrent_per_nic, b.concurrent_per_nic);
  worst.concurrent_per_node = std::max(a.concurrent_per_node, b.concurrent_per_node);
  for (const auto load : kFabricLoads) {
    worst.load.*load = std::max(a.load.*load, b.load.*load);
  }
  worst.load.by_rail = a.load.by_rail && b.load.by_rail;
  worst.load.even_share = std::max(a.load.even_share, b.load.even_share);
  worst.extra_latency_s = std::max(a.extra_latency_s, b.extra_latency_s);
  worst.ports = worse(a.ports, b.ports);
  const bool boxes = a.torus_steps > 0 && b.torus_steps > 0;
  worst.torus_steps = boxes ? std::max(a.torus_steps, b.torus_steps) : 0;
  worst.torus_hops = boxes ? std::max(a.torus_hops, b.torus_hops) : 0;
  return worst;
}

}  // namespace windtunnel
