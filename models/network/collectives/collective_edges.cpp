#include "models/network/collectives/collective_edges.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "models/base/error.hpp"
#include "models/machine/links/links.hpp"
#include "models/machine/links/path_choice.hpp"
#include "models/network/groups/torus_box.hpp"

namespace windtunnel {
namespace {

// The members of every node. Nodes are in the order of their first member.
using Nodes = std::vector<std::vector<std::int32_t>>;

Nodes members_by_node(std::span<const std::int32_t> gpus, const Cluster& cluster) {
  std::vector<std::pair<int, std::int32_t>> first_seen;  // node, its index in the result; sorted
  Nodes nodes;
  for (size_t member = 0; member < gpus.size(); ++member) {
    const int node = cluster.node_of(gpus[member]);
    const auto at = std::lower_bound(first_seen.begin(), first_seen.end(), std::pair{node, 0});
    std::int32_t index;
    if (at != first_seen.end() && at->first == node) {
      index = at->second;
    } else {
      index = static_cast<std::int32_t>(nodes.size());
      first_seen.insert(at, {node, index});
      nodes.emplace_back();
    }
    nodes[index].push_back(static_cast<std::int32_t>(member));
  }
  return nodes;
}

}  // namespace

std::vector<CollectiveEdge> collective_edges(const CollectiveSteps& steps, const LawTerms& law,
                                             std::span<const std::int32_t> gpus,
                                             const Cluster& cluster) {
  const Nodes nodes = members_by_node(gpus, cluster);
  std::vector<CollectiveEdge> edges;
  const double node_bytes = steps.node_bytes / law.node_efficiency;
  for (size_t node = 0; node < nodes.size() && node_bytes > 0; ++node) {
    const std::vector<std::int32_t>& members = nodes[node];
    for_each_edge(inside_node(steps.node, static_cast<int>(node)), members.size(),
                  [&](size_t from, size_t to, double share) {
                    edges.push_back({members[from], members[to], share * node_bytes});
                  });
  }
  if (steps.across_bytes <= 0) return edges;
  size_t lanes = gpus.size();
  for (const auto& members : nodes) lanes = std::min(lanes, members.size());
  if (steps.one_lane) lanes = 1;
  const double wire_share = law.net_efficiency / law.wire_efficiency;
  const auto add = [&](size_t from, size_t to, double share) {
    const double bytes = share * steps.across_bytes / law.net_efficiency;
    for (size_t lane = 0; lane < lanes; ++lane) {
      edges.push_back({nodes[from][lane], nodes[to][lane], bytes, wire_share});
    }
  };
  if (steps.across == Pattern::torus) {
    std::vector<int> places;
    for (const auto& members : nodes) {
      places.push_back(cluster.place_of(cluster.node_of(gpus[members.front()])));
    }
    const auto box = TorusBox::of(places, cluster);
    CHECK(box.has_value(), "{} nodes fill no box of the torus", nodes.size());
    box->for_each_edge(add);
  } else {
    for_each_edge(steps.across, nodes.size(), add);
  }
  return edges;
}

std::vector<CollectiveEdge> pair_edges(double payload, const LawTerms& law,
                                       std::span<const std::int32_t> gpus, const Cluster& cluster) {
  std::vector<CollectiveEdge> edges;
  for (std::int32_t from = 0; from < std::ssize(gpus); ++from) {
    for (std::int32_t to = 0; to < std::ssize(gpus); ++to) {
      if (from == to) continue;
      const bool inside = cluster.node_of(gpus[from]) == cluster.node_of(gpus[to]);
      edges.push_back({from, to, payload / (inside ? law.node_efficiency : law.net_efficiency)});
    }
  }
  return edges;
}

std::vector<CollectiveEdge> matrix_edges(std::span<const double> bytes, const LawTerms& law,
                                         std::span<const std::int32_t> gpus,
                                         const Cluster& cluster) {
  const auto n = static_cast<std::int32_t>(gpus.size());
  const int nics = cluster.nics_per_node();
  std::map<int, std::int32_t> behind;  // [NIC] one member behind it
  for (std::int32_t i = 0; i < n; ++i) behind.try_emplace(nic_of(cluster, gpus[i]), i);
  std::map<std::pair<std::int32_t, std::int32_t>, double> occupied;
  for (std::int32_t from = 0; from < n; ++from) {
    for (std::int32_t to = 0; to < n; ++to) {
      const double payload = bytes[static_cast<size_t>(from) * n + to];
      if (from == to || payload == 0) continue;
      const int node = cluster.node_of(gpus[from]);
      if (node == cluster.node_of(gpus[to])) {
        occupied[{from, to}] += payload / law.node_efficiency;
        continue;
      }
      // Data goes through a member on the receiver's rail, if the node has one.
      const int rail = nic_of(cluster, gpus[to]) % nics;
      std::int32_t relay = from;
      if (nic_of(cluster, gpus[from]) % nics != rail) {
        const auto found = behind.find(cluster.place_of(node) * nics + rail);
        if (found != behind.end()) relay = found->second;
      }
      if (relay != from) occupied[{from, relay}] += payload / law.node_efficiency;
      occupied[{relay, to}] += payload / law.net_efficiency;
    }
  }
  std::vector<CollectiveEdge> edges;
  for (const auto& [ends, amount] : occupied) edges.push_back({ends.first, ends.second, amount});
  return edges;
}

double busiest_link_s(std::span<const CollectiveEdge> edges, std::span<const std::int32_t> gpus,
                      const LinkTable& links) {
  std::map<LinkId, double> load_s;
  std::vector<LinkId> route;
  PathChooser chooser(links);
  if (chooser.asks_twice()) {
    for (const CollectiveEdge& edge : edges) {
      chooser.choose(gpus[edge.source], gpus[edge.destination], edge.bytes);
    }
    chooser.settle();
  }
  double most_s = 0;
  for (const CollectiveEdge& edge : edges) {
    const int src = gpus[edge.source];
    const int dst = gpus[edge.destination];
    for (const PathShare& way : chooser.choose(src, dst, edge.bytes)) {
      route.clear();
      links.append_route(src, dst, route, way.path);
      for (const LinkId link : route) {
        double& on_link_s = load_s[link];
        on_link_s += edge.bytes * way.share / links.capacity(link);
        most_s = std::max(most_s, on_link_s);
      }
    }
  }
  return most_s;
}

std::vector<CollectiveDemand> collective_demands(const CollectiveSteps& steps,
                                                 std::span<const std::int32_t> gpus,
                                                 const Cluster& cluster,
                                                 const Calibration& calibration) {
  std::vector<CollectiveDemand> demands;
  if (steps.copied_bytes <= 0) return demands;
  const double copied = steps.copied_bytes / calibration.pcie_efficiency.value;
  const double host = steps.host_bytes / calibration.host_memory_efficiency.value;
  for (const auto& members : members_by_node(gpus, cluster)) {
    for (const std::int32_t member : members) {
      demands.push_back({member, Resource::pcie_out, copied});
      demands.push_back({member, Resource::pcie_in, copied});
      demands.push_back(
          {member, Resource::host_memory, host / static_cast<double>(members.size())});
    }
  }
  return demands;
}

}  // namespace windtunnel
