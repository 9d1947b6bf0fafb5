#include "models/power/network_parts.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace windtunnel {
namespace {

double whole(double count) {
  return std::ceil(count - 1e-9);
}

// Switches that together have ends below and uplinks, each of the top ones its share of these.
struct Unit {
  NetworkParts parts;  // without the cables that leave it
  double tops = 0;
};

class TreeParts {
 public:
  TreeParts(const FabricSpec& fabric, int ports) : fabric_(fabric), k_(ports) {}

  // `ends` below and `ups` above, as many cables between two of its tiers as ends.
  Unit unit(double ends, double ups) const {
    if (ends + ups <= k_) return {{1, 0}, 1};
    double reach = k_ * ends / (ends + ups);  // of a top switch's ports, those that lead down
    double tiers = 0;
    for (; reach < ends; reach *= k_ / 2) ++tiers;
    const double tops = whole((ends + ups) / k_);
    return {{tiers * whole(ends / (k_ / 2)) + tops, tiers * ends}, tops};
  }

  // Joins `below` switches of so many uplinks each: a top switch reaches all of them, or there is a
  // plane for each uplink of a switch.
  Unit layer(double below, double ups_each, double ups) const {
    const double cables = below * ups_each;
    if (cables <= 0) return {};
    if (below <= k_ * cables / (cables + ups)) {
      const double tops = whole((cables + ups) / k_);
      return {{tops, cables}, tops};
    }
    const Unit plane = unit(below, ups / ups_each);
    return {{ups_each * plane.parts.switches, cables + ups_each * plane.parts.cables},
            ups_each * plane.tops};
  }

  NetworkParts of(double nodes, double nics, double ends_per_nic) const {
    const bool rails =
        fabric_.topology == Topology::rail_fat_tree || fabric_.topology == Topology::rail_only;
    const bool joined = fabric_.topology != Topology::rail_only;
    const double ends = nics * ends_per_nic;  // of a node
    NetworkParts parts{0, nodes * ends};
    const double pod =
        fabric_.nodes_per_pod > 0 ? std::min<double>(fabric_.nodes_per_pod, nodes) : nodes;
    const double pods = whole(nodes / pod);
    if (fabric_.topology == Topology::clos) {
      add_clos(parts, nodes, pod, pods, ends);
      return parts;
    }
    if (joined && pods == 1 && fabric_.pod_oversubscription == 1) {
      add(parts, unit(nodes * ends, 0).parts);
      return parts;
    }
    const double lanes = rails ? nics : 1;
    const bool above = pods > 1 || (joined && rails);
    const double pod_ends = pod * ends / lanes;
    const double ups = above ? whole(pod_ends / fabric_.pod_oversubscription) : 0;
    const Unit lane = unit(pod_ends, ups);
    // Rails that need less than a switch share one.
    const double shared = lane.parts.switches == 1 ? std::floor(k_ / (pod_ends + ups)) : 1;
    const double units = pods * whole(lanes / shared);
    add(parts, lane.parts, units);
    if (!above) return parts;
    const double cores = joined ? 1 : whole(lanes / shared);
    const double tops = units * lane.tops / cores;
    add(parts, layer(tops, pods * lanes * ups / (units * lane.tops), 0).parts, cores);
    return parts;
  }

 private:
  void add_clos(NetworkParts& parts, double nodes, double pod, double pods, double ends) const {
    const double leaf = std::min<double>(std::max(1, fabric_.nodes_per_leaf), pod);
    const double leaves = whole(pod / leaf);
    const double leaf_ends = leaf * ends;
    const double leaf_ups = nodes > leaf ? whole(leaf_ends / fabric_.leaf_oversubscription) : 0;
    const Unit rack = unit(leaf_ends, leaf_ups);
    add(parts, rack.parts, whole(nodes / leaf));
    const double ups = pods > 1 ? whole(leaves * leaf_ups / fabric_.pod_oversubscription) : 0;
    const Unit spine = layer(leaves * rack.tops, leaf_ups / rack.tops, ups);
    add(parts, spine.parts, pods);
    if (ups > 0) add(parts, layer(pods * spine.tops, ups / spine.tops, 0).parts);
  }

  static void add(NetworkParts& parts, const NetworkParts& more, double times = 1) {
    parts.switches += times * more.switches;
    parts.cables += times * more.cables;
  }

  const FabricSpec& fabric_;
  double k_;
};

// A cable from each node to the next in every dimension, and around.
NetworkParts torus_parts(const FabricSpec& fabric, double nodes) {
  NetworkParts parts;
  for (const int length : fabric.dimensions) {
    if (length > 1) parts.cables += nodes * (length == 2 ? 0.5 : 1);
  }
  return parts;
}

NetworkParts dragonfly_parts(const FabricSpec& fabric, const NetworkKit& kit, double nodes,
                             double ends) {
  const double routers = whole(nodes / std::max(1, fabric.nodes_per_router));
  const double of_group = std::max(1, fabric.routers_per_group);
  const double groups = whole(routers / of_group);
  const double in_group = std::min(of_group, routers);
  const double local = whole(fabric.local_Bps.value / kit.port_Bps);
  const double global = whole(fabric.global_Bps.value / kit.port_Bps);
  return {routers, nodes * ends + groups * in_group * (in_group - 1) / 2 * local +
                       groups * (groups - 1) / 2 * global};
}

NetworkParts graph_parts(const FabricSpec& fabric, const NetworkKit& kit) {
  NetworkParts parts;
  std::set<std::string> switches;
  for (const EdgeSpec& edge : fabric.edges) {
    for (const std::string* end : {&edge.a, &edge.b}) {
      if (!end->starts_with("node ")) switches.insert(*end);
    }
    parts.cables += whole(edge.bandwidth_Bps / kit.port_Bps);
  }
  parts.switches = static_cast<double>(switches.size());
  return parts;
}

}  // namespace

NetworkParts network_parts(const Cluster& cluster, const NetworkKit& kit, double nodes) {
  if (nodes <= 1 || kit.name.empty()) return {};
  const FabricSpec& fabric = cluster.fabric;
  const double nics = cluster.nics_per_node();
  // The rate of a port is a round number of which a NIC may have a little more.
  const double ends_per_nic =
      std::max(1.0, whole(0.95 * cluster.node.nic_Bps.value / kit.port_Bps));
  const TreeParts tree(fabric, kit.ports);
  switch (fabric.topology) {
    case Topology::torus:
      return torus_parts(fabric, nodes);
    case Topology::dragonfly:
      return dragonfly_parts(fabric, kit, nodes, nics * ends_per_nic);
    case Topology::graph:
      return graph_parts(fabric, kit);
    case Topology::sites: {
      NetworkParts parts;
      for (const SiteSpec& site : fabric.sites) {
        const double ends = site.nodes * nics * ends_per_nic;
        const NetworkParts inside = tree.unit(ends, 0).parts;
        parts.switches += inside.switches;
        parts.cables += ends + inside.cables;
      }
      return parts;
    }
    default:
      return tree.of(nodes, nics, ends_per_nic);
  }
}

double network_watts(const NetworkParts& parts, const NetworkKit& kit) {
  return parts.switches * kit.switch_W.value + 2 * parts.cables * kit.end_W.value;
}

double network_usd(const NetworkParts& parts, const NetworkKit& kit) {
  return parts.switches * kit.switch_usd.value + 2 * parts.cables * kit.end_usd.value;
}

}  // namespace windtunnel
