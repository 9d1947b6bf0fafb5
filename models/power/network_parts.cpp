#include "models/power/network_parts.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace windtunnel {
namespace {

double whole(double count) {
  return std::ceil(count - 1e-9);
}

// The parts of units, each with ends below and uplinks above; the `tops` switches share the
// uplinks.
struct Unit {
  NetworkParts parts;
  double tops = 0;
};

class TreeParts {
 public:
  TreeParts(const FabricSpec& fabric, int ports) : fabric_(fabric), k_(ports) {}

  // Counts `times` equal units with `ends` ports below and `ups` above. Between two tiers a unit
  // has as many cables as it has ends. Units share switches that one alone would not fill.
  Unit units(double ends, double ups, double times) const {
    if (ends + ups <= k_) {
      const double switches = whole(times / std::floor(k_ / (ends + ups)));
      return {{switches, 0}, switches};
    }
    double reach = k_ * ends / (ends + ups);  // the ports of a top switch that lead down
    double tiers = 0;
    for (; reach < ends; reach *= k_ / 2) ++tiers;
    const double tops = whole(times * (ends + ups) / k_);
    return {{tiers * whole(times * ends / (k_ / 2)) + tops, tiers * times * ends}, tops};
  }

  // Counts `times` layers. Each joins `below` switches that have `ups_each` uplinks: either a top
  // switch reaches all of them, or there is a plane for each uplink of a switch.
  Unit layers(double below, double ups_each, double ups, double times) const {
    const double cables = below * ups_each;
    if (below <= k_ * cables / (cables + ups)) {
      const double tops = whole(times * (cables + ups) / k_);
      return {{tops, times * cables}, tops};
    }
    Unit planes = units(below, ups / ups_each, times * ups_each);
    planes.parts.cables += times * cables;
    return planes;
  }

  NetworkParts of(double nodes, double nics, double ends_per_nic) const {
    const bool joined = fabric_.topology != Topology::rail_only;
    const bool rails = !joined || fabric_.topology == Topology::rail_fat_tree;
    const double ends = nics * ends_per_nic;  // of a node
    NetworkParts parts{0, nodes * ends};
    const double pod =
        fabric_.nodes_per_pod > 0 ? std::min<double>(fabric_.nodes_per_pod, nodes) : nodes;
    // not whole if the last pod is smaller; the parts of that pod then count in proportion
    const double pods = nodes / pod;
    if (fabric_.topology == Topology::clos) {
      add_clos(parts, nodes, pod, pods, ends);
      return parts;
    }
    if (joined && pods <= 1 && fabric_.pod_oversubscription == 1) {
      add(parts, units(nodes * ends, 0, 1).parts);
      return parts;
    }
    const double lanes = rails ? nics : 1;
    const bool above = pods > 1 || (joined && rails);
    const double lane_ends = pod * ends / lanes;
    const double ups = above ? whole(lane_ends / fabric_.pod_oversubscription) : 0;
    const Unit in_pod = units(lane_ends, ups, lanes);
    add(parts, in_pod.parts, pods);
    if (!above) return parts;
    // The `in_pod.tops` switches belong to one rail, or to all rails together.
    const double tops = joined ? in_pod.tops : std::max(1.0, in_pod.tops / lanes);
    const double tops_ups = joined ? lanes * ups : ups;
    const double below = whole(pods) * tops;
    add(parts, layers(below, pods * tops_ups / below, 0, joined ? 1 : lanes).parts);
    return parts;
  }

 private:
  void add_clos(NetworkParts& parts, double nodes, double pod, double pods, double ends) const {
    const double leaf = std::min<double>(std::max(1, fabric_.nodes_per_leaf), pod);
    if (nodes <= leaf) return add(parts, units(nodes * ends, 0, 1).parts);
    const double leaf_ups = whole(leaf * ends / fabric_.leaf_oversubscription);
    const Unit rack = units(leaf * ends, leaf_ups, 1);
    add(parts, rack.parts, whole(nodes / leaf));
    const double pod_cables = pod / leaf * leaf_ups;
    const double ups = pods > 1 ? whole(pod_cables / fabric_.pod_oversubscription) : 0;
    const double racks = whole(pod / leaf) * rack.tops;
    const Unit spine = layers(racks, pod_cables / racks, ups, 1);
    add(parts, spine.parts, pods);
    const double below = whole(pods) * spine.tops;
    if (ups > 0) add(parts, layers(below, pods * ups / below, 0, 1).parts);
  }

  static void add(NetworkParts& parts, const NetworkParts& more, double times = 1) {
    parts.switches += times * more.switches;
    parts.cables += times * more.cables;
  }

  const FabricSpec& fabric_;
  double k_;
};

// In every dimension a cable leads from each node to the next, and from the last to the first.
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
  // A port's rate is a round number, which a NIC may slightly exceed.
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
        const NetworkParts inside = tree.units(ends, 0, 1).parts;
        parts.switches += inside.switches;
        parts.cables += ends + inside.cables;
      }
      return parts;
    }
    default: {
      const NetworkParts parts = tree.of(nodes, nics, ends_per_nic);
      return {whole(parts.switches), whole(parts.cables)};
    }
  }
}

double network_watts(const NetworkParts& parts, const NetworkKit& kit) {
  return parts.switches * kit.switch_W.value + 2 * parts.cables * kit.end_W.value;
}

double network_usd(const NetworkParts& parts, const NetworkKit& kit) {
  return parts.switches * kit.switch_usd.value + 2 * parts.cables * kit.end_usd.value;
}

}  // namespace windtunnel
