#include "models/collective.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "models/base/error.hpp"
#include "models/double_tree.hpp"

namespace windtunnel {
namespace {

// What one member does: payload bytes by kind of link, and steps in sequence.
struct Traffic {
  double nvlink_bytes = 0;  // busiest NVLink port
  double nic_bytes = 0;     // one member's share of its NIC
  double pod_bytes = 0;     // one rail's share of what leaves the busiest pod
  int node_steps = 0;       // inside a node
  int fabric_steps = 0;     // across nodes
};

// Times a rank's data crosses its ring: once to reduce-scatter or all-gather, twice to all-reduce.
int passes(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce ? 2 : 1;
}

int ceil_log2(int n) {
  return std::bit_width(static_cast<unsigned>(n - 1));
}

Traffic ring_traffic(CollectiveKind kind, const GroupShape& shape, double bytes) {
  const double n = shape.members;
  const double payload =
      kind == CollectiveKind::broadcast ? bytes : passes(kind) * (n - 1) / n * bytes;
  Traffic traffic;
  traffic.fabric_steps = passes(kind) * (shape.nodes - 1);
  traffic.node_steps = passes(kind) * (shape.members - 1) - traffic.fabric_steps;
  if (shape.members > shape.nodes) traffic.nvlink_bytes = payload;
  if (shape.nodes > 1) traffic.nic_bytes = payload / shape.members_per_node;
  if (shape.pods > 1) traffic.pod_bytes = traffic.nic_bytes / shape.smallest_pod_nodes;
  return traffic;
}

Traffic tree_traffic(const GroupShape& shape, double bytes) {
  const double g = shape.members_per_node;
  Traffic traffic;
  traffic.node_steps = 2 * (shape.members_per_node - 1);
  traffic.fabric_steps = 2 * ceil_log2(shape.nodes);
  traffic.nvlink_bytes = 2 * (g - 1) / g * bytes;
  // Half of the buffer runs over each tree. An inner node of one is a leaf of the other: three
  // edges and one; with two and three nodes the busiest has two and three.
  if (shape.nodes > 1) traffic.nic_bytes = std::min(shape.nodes, 4) * bytes / (2 * g);
  traffic.pod_bytes = shape.tree_edges_per_pod_node * bytes / (2 * g);
  return traffic;
}

Traffic hierarchical_traffic(CollectiveKind kind, const GroupShape& shape, double bytes) {
  const double g = shape.members_per_node;
  const double nodes = shape.nodes;
  Traffic traffic;
  traffic.node_steps = passes(kind);
  traffic.fabric_steps = passes(kind) * (shape.nodes - 1);
  traffic.nvlink_bytes = passes(kind) * (g - 1) / g * bytes;
  traffic.nic_bytes = passes(kind) * (nodes - 1) / nodes * bytes / g;
  if (shape.pods > 1) traffic.pod_bytes = traffic.nic_bytes / shape.smallest_pod_nodes;
  return traffic;
}

Traffic all_to_all_traffic(const GroupShape& shape, double bytes) {
  const double n = shape.members;
  const double g = shape.members_per_node;
  const double nodes = shape.nodes;
  Traffic traffic;
  traffic.node_steps = shape.members_per_node - 1;
  traffic.fabric_steps = shape.nodes - 1;
  traffic.nvlink_bytes = (g - 1) / g * bytes;
  // Of a member on the node with the fewest: it has the most to send away.
  traffic.nic_bytes = (n - g) / n * bytes;
  traffic.pod_bytes = shape.pod_pairs_per_node / nodes * bytes;
  return traffic;
}

Traffic traffic_of(CollectiveKind kind, CollectiveAlgorithm algorithm, const GroupShape& shape,
                   double bytes) {
  if (kind == CollectiveKind::all_to_all) return all_to_all_traffic(shape, bytes);
  if (algorithm == CollectiveAlgorithm::tree) return tree_traffic(shape, bytes);
  if (algorithm == CollectiveAlgorithm::hierarchical) {
    return hierarchical_traffic(kind, shape, bytes);
  }
  return ring_traffic(kind, shape, bytes);
}

bool applies(CollectiveKind kind, CollectiveAlgorithm algorithm, const GroupShape& shape) {
  switch (algorithm) {
    case CollectiveAlgorithm::tree:
      return kind == CollectiveKind::all_reduce && shape.regular();
    case CollectiveAlgorithm::hierarchical:
      return kind != CollectiveKind::broadcast && kind != CollectiveKind::all_to_all &&
             shape.regular() && shape.nodes > 1 && shape.members_per_node > 1;
    default:
      return true;
  }
}

double hops_s(const Traffic& traffic, const GroupShape& shape, const Cluster& cluster) {
  return traffic.fabric_steps * shape.fabric_hops * cluster.fabric.hop_latency_s.value;
}

double latency_of(const Traffic& traffic, const GroupShape& shape, const Cluster& cluster,
                  const Calibration& calibration) {
  return calibration.collective_launch_s.value +
         traffic.node_steps * calibration.nvlink_latency_s.value +
         traffic.fabric_steps * calibration.nic_latency_s.value + hops_s(traffic, shape, cluster);
}

// Share of the NICs' bandwidth that a collective between nodes gets.
double nic_share(CollectiveKind kind, const GroupShape& shape, const Cluster& cluster,
                 const Calibration& calibration) {
  const MeasuredBus& measured = cluster.fabric.measured;
  double bus_Bps = 0;
  if (kind == CollectiveKind::all_reduce) bus_Bps = measured.all_reduce_Bps;
  if (kind == CollectiveKind::all_gather) bus_Bps = measured.all_gather_Bps;
  if (kind == CollectiveKind::reduce_scatter) bus_Bps = measured.reduce_scatter_Bps;
  const double share = calibration.nic_efficiency.value;
  if (bus_Bps == 0) return share;
  const double group_Bps = bus_Bps * cluster.nodes / shape.nodes;
  return std::min(share, group_Bps / (cluster.node.nics * cluster.node.nic_Bps.value));
}

double seconds_of(CollectiveKind kind, const Traffic& traffic, const GroupShape& shape,
                  const Cluster& cluster, const Calibration& calibration) {
  const NodeSpec& node = cluster.node;
  double transfer_s = 0;
  if (traffic.nvlink_bytes > 0) {
    transfer_s =
        traffic.nvlink_bytes / (node.nvlink_Bps.value * calibration.nvlink_efficiency.value);
  }
  if (traffic.nic_bytes > 0) {
    const double nic_Bps = node.nic_Bps.value * nic_share(kind, shape, cluster, calibration);
    const double on_nic = shape.members_per_nic * shape.concurrent_per_nic;
    transfer_s = std::max(transfer_s, traffic.nic_bytes * on_nic / (nic_Bps * shape.nic_factor));
    if (shape.pods > 1) {
      // Per node of the pod, the uplinks of a rail carry one NIC's worth, those of a pod all NICs'.
      const FabricSpec& fabric = cluster.fabric;
      const bool rails = fabric.topology == Topology::rail_fat_tree;
      const double on_node = shape.members_per_node * shape.concurrent_per_node;
      const double uplink_Bps = nic_Bps * (rails ? 1 : node.nics) / fabric.pod_oversubscription;
      const double on_uplink = rails ? on_nic : on_node;
      transfer_s = std::max(transfer_s, traffic.pod_bytes * on_uplink / uplink_Bps);
    }
  }
  return latency_of(traffic, shape, cluster, calibration) + transfer_s;
}

// `hops_share`: of the time. Below a tenth it is no evidence for or against the time.
Origin origin_of(const GroupShape& shape, double hops_share, const Cluster& cluster,
                 const Calibration& calibration) {
  Origin origin = calibration.collective_launch_s.origin;
  const auto rests_on = [&](const Parameter& parameter) {
    origin = weakest(origin, parameter.origin);
  };
  if (shape.members > shape.nodes) {
    rests_on(cluster.node.nvlink_Bps);
    rests_on(calibration.nvlink_efficiency);
    rests_on(calibration.nvlink_latency_s);
  }
  if (shape.nodes > 1) {
    rests_on(cluster.node.nic_Bps);
    rests_on(calibration.nic_efficiency);
    rests_on(calibration.nic_latency_s);
    if (hops_share >= 0.1) rests_on(cluster.fabric.hop_latency_s);
  }
  return origin;
}

// The members of every node, nodes in the order of their first member.
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

// Collects edges; payloads become link occupation here and nowhere else.
class EdgeList {
 public:
  EdgeList(const Nodes& nodes, double nvlink_efficiency, double nic_efficiency)
      : nodes_(nodes), nvlink_efficiency_(nvlink_efficiency), nic_efficiency_(nic_efficiency) {}

  void add_inside(size_t node, size_t from, size_t to, double payload) {
    edges_.push_back({nodes_[node][from], nodes_[node][to], payload / nvlink_efficiency_});
  }
  // Member `rail` of one node to member `rail` of the other.
  void add_across(size_t from, size_t to, size_t rail, double payload) {
    edges_.push_back({nodes_[from][rail], nodes_[to][rail], payload / nic_efficiency_});
  }
  std::vector<CollectiveEdge> take() { return std::move(edges_); }

 private:
  const Nodes& nodes_;
  double nvlink_efficiency_;
  double nic_efficiency_;
  std::vector<CollectiveEdge> edges_;
};

// Closed rings (all edges) or the chain of a broadcast (none back to the start).
void add_ring(const Nodes& nodes, size_t rails, double nvlink_payload, double nic_payload,
              bool closed, EdgeList& edges) {
  for (size_t node = 0; node < nodes.size(); ++node) {
    const size_t count = nodes[node].size();
    if (count == 1) continue;
    // The root's node of a chain receives nothing back into the root.
    const size_t last = closed || node > 0 ? count : count - 1;
    for (size_t i = 0; i < last; ++i) edges.add_inside(node, i, (i + 1) % count, nvlink_payload);
  }
  if (nodes.size() == 1) return;
  const size_t last = closed ? nodes.size() : nodes.size() - 1;
  for (size_t node = 0; node < last; ++node) {
    for (size_t rail = 0; rail < rails; ++rail) {
      edges.add_across(node, (node + 1) % nodes.size(), rail, nic_payload);
    }
  }
}

void add_double_tree(const Nodes& nodes, size_t rails, double bytes, EdgeList& edges) {
  const double chain_payload = static_cast<double>(rails - 1) / static_cast<double>(rails) * bytes;
  const size_t n = nodes.size();
  for (size_t node = 0; node < n && rails > 1; ++node) {
    for (size_t i = 0; i < rails; ++i) {
      edges.add_inside(node, i, (i + 1) % rails, chain_payload);
      edges.add_inside(node, (i + 1) % rails, i, chain_payload);
    }
  }
  const double half = bytes / (2 * static_cast<double>(rails));
  for (size_t node = 1; node < n; ++node) {
    const size_t parent = tree_parent(node, n);
    for (size_t rail = 0; rail < rails; ++rail) {
      edges.add_across(node, parent, rail, half);
      edges.add_across(parent, node, rail, half);
      edges.add_across(tree_twin(node, n), tree_twin(parent, n), rail, half);
      edges.add_across(tree_twin(parent, n), tree_twin(node, n), rail, half);
    }
  }
}

// Regular groups: to the receiver's rail inside the node, then along the rail.
void add_all_to_all(const Nodes& nodes, size_t rails, double bytes, EdgeList& edges) {
  const double inside = bytes / static_cast<double>(rails);
  const double across = bytes / static_cast<double>(nodes.size());
  for (size_t from = 0; from < nodes.size(); ++from) {
    for (size_t i = 0; i < rails; ++i) {
      for (size_t j = 0; j < rails; ++j) {
        if (i != j) edges.add_inside(from, i, j, inside);
      }
      for (size_t to = 0; to < nodes.size(); ++to) {
        if (to != from) edges.add_across(from, to, i, across);
      }
    }
  }
}

// Irregular groups: every pair directly.
std::vector<CollectiveEdge> all_pairs(std::span<const std::int32_t> gpus, double bytes,
                                      const Cluster& cluster, const Calibration& calibration) {
  std::vector<CollectiveEdge> edges;
  const double payload = bytes / static_cast<double>(gpus.size());
  for (size_t from = 0; from < gpus.size(); ++from) {
    for (size_t to = 0; to < gpus.size(); ++to) {
      if (from == to) continue;
      const bool same_node = cluster.node_of(gpus[from]) == cluster.node_of(gpus[to]);
      const Parameter& efficiency =
          same_node ? calibration.nvlink_efficiency : calibration.nic_efficiency;
      edges.push_back({static_cast<std::int32_t>(from), static_cast<std::int32_t>(to),
                       payload / efficiency.value});
    }
  }
  return edges;
}

}  // namespace

const char* to_string(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return "all-reduce";
    case CollectiveKind::reduce_scatter:
      return "reduce-scatter";
    case CollectiveKind::all_gather:
      return "all-gather";
    case CollectiveKind::broadcast:
      return "broadcast";
    case CollectiveKind::all_to_all:
      return "all-to-all";
    case CollectiveKind::reduce:
      return "reduce";
    case CollectiveKind::gather:
      return "gather";
    case CollectiveKind::send_recv:
      return "send-recv";
  }
  return "unknown";
}

const char* to_string(CollectiveAlgorithm algorithm) {
  switch (algorithm) {
    case CollectiveAlgorithm::automatic:
      return "automatic";
    case CollectiveAlgorithm::ring:
      return "ring";
    case CollectiveAlgorithm::tree:
      return "tree";
    case CollectiveAlgorithm::hierarchical:
      return "hierarchical";
    case CollectiveAlgorithm::recursive_doubling:
      return "recursive-doubling";
    case CollectiveAlgorithm::halving_doubling:
      return "halving-doubling";
    case CollectiveAlgorithm::nvls:
      return "nvls";
    case CollectiveAlgorithm::nvls_tree:
      return "nvls-tree";
    case CollectiveAlgorithm::collnet_direct:
      return "collnet-direct";
    case CollectiveAlgorithm::collnet_chain:
      return "collnet-chain";
    case CollectiveAlgorithm::pat:
      return "pat";
    case CollectiveAlgorithm::pairwise:
      return "pairwise";
    case CollectiveAlgorithm::direct:
      return "direct";
    case CollectiveAlgorithm::hfreduce:
      return "hfreduce";
  }
  return "unknown";
}

const char* to_string(Protocol protocol) {
  switch (protocol) {
    case Protocol::automatic:
      return "automatic";
    case Protocol::ll:
      return "ll";
    case Protocol::ll128:
      return "ll128";
    case Protocol::simple:
      return "simple";
  }
  return "unknown";
}

CollectiveCost collective_cost(CollectiveKind kind, CollectiveChoice choice,
                               const GroupShape& shape, double bytes, const Cluster& cluster,
                               const Calibration& calibration) {
  CHECK(bytes >= 0, "a collective of {} bytes", bytes);
  CollectiveCost cost;
  if (shape.members <= 1) return cost;

  cost.seconds = std::numeric_limits<double>::infinity();
  double hops_share = 0;
  const auto consider = [&](CollectiveAlgorithm candidate) {
    const Traffic traffic = traffic_of(kind, candidate, shape, bytes);
    const double seconds = seconds_of(kind, traffic, shape, cluster, calibration);
    if (seconds >= cost.seconds) return;
    cost.seconds = seconds;
    cost.algorithm = candidate;
    hops_share = hops_s(traffic, shape, cluster) / seconds;
  };
  const CollectiveAlgorithm algorithm = choice.algorithm;
  if (algorithm == CollectiveAlgorithm::automatic) {
    consider(CollectiveAlgorithm::ring);
    for (const auto candidate : {CollectiveAlgorithm::tree, CollectiveAlgorithm::hierarchical}) {
      if (applies(kind, candidate, shape)) consider(candidate);
    }
  } else {
    consider(applies(kind, algorithm, shape) ? algorithm : CollectiveAlgorithm::ring);
  }
  cost.origin = origin_of(shape, hops_share, cluster, calibration);
  if (shape.nodes > 1 &&
      nic_share(kind, shape, cluster, calibration) < calibration.nic_efficiency.value) {
    cost.origin = weakest(cost.origin, cluster.fabric.measured.origin);
  }
  return cost;
}

CollectiveFlows collective_flows(CollectiveKind kind, CollectiveChoice choice,
                                 std::span<const std::int32_t> gpus, double bytes,
                                 const Cluster& cluster, const Calibration& calibration) {
  const GroupShape shape = group_shape(gpus, cluster);
  CollectiveFlows flows;
  if (shape.members <= 1) return flows;
  flows.algorithm = collective_cost(kind, choice, shape, bytes, cluster, calibration).algorithm;
  const Traffic traffic = traffic_of(kind, flows.algorithm, shape, bytes);
  flows.latency_s = latency_of(traffic, shape, cluster, calibration);

  if (kind == CollectiveKind::all_to_all && !shape.regular()) {
    flows.edges = all_pairs(gpus, bytes, cluster, calibration);
    flows.independent = true;
    return flows;
  }
  const Nodes nodes = members_by_node(gpus, cluster);
  const size_t rails = shape.members_per_node;
  EdgeList edges(nodes, calibration.nvlink_efficiency.value,
                 nic_share(kind, shape, cluster, calibration));
  if (kind == CollectiveKind::all_to_all) {
    add_all_to_all(nodes, rails, bytes, edges);
  } else if (flows.algorithm == CollectiveAlgorithm::tree) {
    add_double_tree(nodes, rails, bytes, edges);
  } else {
    // Ring and hierarchical differ in bytes and steps, not in edges.
    add_ring(nodes, rails, traffic.nvlink_bytes, traffic.nic_bytes,
             kind != CollectiveKind::broadcast, edges);
  }
  flows.edges = edges.take();
  flows.independent = kind == CollectiveKind::all_to_all;
  return flows;
}

}  // namespace windtunnel
