#include "models/collective.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "models/base/error.hpp"

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

int nic_of(int gpu, const Cluster& cluster) {
  return gpu % cluster.node.gpus * cluster.node.nics / cluster.node.gpus;
}

int pod_of(int node, const Cluster& cluster) {
  return cluster.fabric.nodes_per_pod > 0 ? node / cluster.fabric.nodes_per_pod : 0;
}

// The last pod may be smaller.
int pod_size(int pod, const Cluster& cluster) {
  const int full = cluster.fabric.nodes_per_pod;
  return full > 0 ? std::min(full, cluster.nodes - pod * full) : cluster.nodes;
}

double nic_factor(int node, int nic, const Cluster& cluster) {
  double factor = 1;
  for (const DegradedNic& degraded : cluster.degraded_nics) {
    if (degraded.node == node && degraded.nic == nic) factor *= degraded.factor;
  }
  return factor;
}

// Nodes of a group in one pod.
struct PodShare {
  int pod = 0;
  int nodes = 0;
};

// Parent in the in-order binary tree over 0..n-1 with root 0 (odd indices are its leaves).
size_t tree_parent(size_t node, size_t n) {
  const size_t bit = node & (~node + 1);
  const size_t above = (node ^ bit) | (bit << 1);
  return above < n ? above : node ^ bit;
}

// The node in whose place a node stands in the second tree, which makes leaves of the first one's
// inner nodes: mirrored for an even number of nodes, shifted by one for an odd number (Sanders et
// al. 2009).
size_t tree_twin(size_t node, size_t n) {
  return n % 2 == 0 ? n - 1 - node : (node + 1) % n;
}

// `pod_of_node`: index into pods. Edges of both trees that leave a pod, per node of the pod, at
// most.
double tree_edges_per_pod_node(const std::vector<int>& pod_of_node,
                               const std::vector<PodShare>& pods, const Cluster& cluster) {
  std::vector<int> edges(pods.size(), 0);
  const size_t n = pod_of_node.size();
  const auto count = [&](size_t a, size_t b) {
    if (pod_of_node[a] == pod_of_node[b]) return;
    ++edges[pod_of_node[a]];
    ++edges[pod_of_node[b]];
  };
  for (size_t node = 1; node < n; ++node) {
    const size_t parent = tree_parent(node, n);
    count(node, parent);
    count(tree_twin(node, n), tree_twin(parent, n));
  }
  double most = 0;
  for (size_t i = 0; i < pods.size(); ++i) {
    most = std::max(most, static_cast<double>(edges[i]) / pod_size(pods[i].pod, cluster));
  }
  return most;
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
  const double g = shape.members_per_node;
  const double nodes = shape.nodes;
  Traffic traffic;
  traffic.node_steps = shape.members_per_node - 1;
  traffic.fabric_steps = shape.nodes - 1;
  traffic.nvlink_bytes = (g - 1) / g * bytes;
  traffic.nic_bytes = (nodes - 1) / nodes * bytes;
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

double latency_of(const Traffic& traffic, const Calibration& calibration) {
  return calibration.collective_launch_s.value +
         traffic.node_steps * calibration.nvlink_latency_s.value +
         traffic.fabric_steps * calibration.nic_latency_s.value;
}

double seconds_of(const Traffic& traffic, const GroupShape& shape, const Cluster& cluster,
                  const Calibration& calibration) {
  const NodeSpec& node = cluster.node;
  double transfer_s = 0;
  if (traffic.nvlink_bytes > 0) {
    transfer_s =
        traffic.nvlink_bytes / (node.nvlink_Bps.value * calibration.nvlink_efficiency.value);
  }
  if (traffic.nic_bytes > 0) {
    const double nic_Bps = node.nic_Bps.value * calibration.nic_efficiency.value;
    const double nic_share = shape.members_per_nic * shape.concurrent_per_nic;
    transfer_s = std::max(transfer_s, traffic.nic_bytes * nic_share / (nic_Bps * shape.nic_factor));
    if (shape.pods > 1) {
      // Per node of the pod, the uplinks of a rail carry one NIC's worth, those of a pod all NICs'.
      const FabricSpec& fabric = cluster.fabric;
      const bool rails = fabric.topology == Topology::rail_fat_tree;
      const int sharing = rails ? shape.members_per_nic : shape.members_per_node;
      const double uplink_Bps = nic_Bps * (rails ? 1 : node.nics) / fabric.pod_oversubscription;
      transfer_s = std::max(transfer_s, traffic.pod_bytes * sharing / uplink_Bps);
    }
  }
  return latency_of(traffic, calibration) + transfer_s;
}

Origin origin_of(const GroupShape& shape, const Cluster& cluster, const Calibration& calibration) {
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
  EdgeList(const Nodes& nodes, const Calibration& calibration)
      : nodes_(nodes),
        nvlink_efficiency_(calibration.nvlink_efficiency.value),
        nic_efficiency_(calibration.nic_efficiency.value) {}

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
  }
  return "unknown";
}

GroupShape group_shape(std::span<const std::int32_t> gpus, const Cluster& cluster) {
  CHECK(!gpus.empty(), "a collective needs members");
  std::vector<std::int32_t> sorted(gpus.begin(), gpus.end());
  std::sort(sorted.begin(), sorted.end());

  GroupShape shape;
  shape.members = static_cast<int>(sorted.size());
  shape.members_per_node = shape.members;
  shape.nodes = 0;
  std::vector<PodShare> pods;
  std::vector<int> pod_of_node;  // index into pods
  for (size_t i = 0; i < sorted.size();) {
    const int node = cluster.node_of(sorted[i]);
    if (pods.empty() || pods.back().pod != pod_of(node, cluster)) {
      pods.push_back({pod_of(node, cluster), 0});
    }
    ++shape.nodes;
    ++pods.back().nodes;
    pod_of_node.push_back(static_cast<int>(pods.size()) - 1);
    const size_t first = i;
    int behind_nic = 0;
    for (; i < sorted.size() && cluster.node_of(sorted[i]) == node; ++i) {
      const int nic = nic_of(sorted[i], cluster);
      behind_nic = i > first && nic == nic_of(sorted[i - 1], cluster) ? behind_nic + 1 : 1;
      shape.members_per_nic = std::max(shape.members_per_nic, behind_nic);
      shape.nic_factor = std::min(shape.nic_factor, nic_factor(node, nic, cluster));
    }
    shape.members_per_node = std::min(shape.members_per_node, static_cast<int>(i - first));
  }
  shape.pods = static_cast<int>(pods.size());
  shape.smallest_pod_nodes = cluster.nodes;
  if (shape.pods > 1) {
    shape.tree_edges_per_pod_node = tree_edges_per_pod_node(pod_of_node, pods, cluster);
  }
  for (const PodShare& share : pods) {
    const int size = pod_size(share.pod, cluster);
    shape.smallest_pod_nodes = std::min(shape.smallest_pod_nodes, size);
    shape.pod_pairs_per_node =
        std::max(shape.pod_pairs_per_node,
                 static_cast<double>(share.nodes) * (shape.nodes - share.nodes) / size);
  }
  return shape;
}

CollectiveCost collective_cost(CollectiveKind kind, CollectiveAlgorithm algorithm,
                               const GroupShape& shape, double bytes, const Cluster& cluster,
                               const Calibration& calibration) {
  CHECK(bytes >= 0, "a collective of {} bytes", bytes);
  CollectiveCost cost;
  cost.origin = origin_of(shape, cluster, calibration);
  if (shape.members <= 1) return cost;

  const auto seconds = [&](CollectiveAlgorithm candidate) {
    return seconds_of(traffic_of(kind, candidate, shape, bytes), shape, cluster, calibration);
  };
  if (algorithm != CollectiveAlgorithm::automatic) {
    cost.algorithm = applies(kind, algorithm, shape) ? algorithm : CollectiveAlgorithm::ring;
    cost.seconds = seconds(cost.algorithm);
    return cost;
  }
  cost.seconds = seconds(CollectiveAlgorithm::ring);
  for (const auto candidate : {CollectiveAlgorithm::tree, CollectiveAlgorithm::hierarchical}) {
    if (!applies(kind, candidate, shape)) continue;
    const double candidate_s = seconds(candidate);
    if (candidate_s < cost.seconds) {
      cost.seconds = candidate_s;
      cost.algorithm = candidate;
    }
  }
  return cost;
}

CollectiveFlows collective_flows(CollectiveKind kind, CollectiveAlgorithm algorithm,
                                 std::span<const std::int32_t> gpus, double bytes,
                                 const Cluster& cluster, const Calibration& calibration) {
  const GroupShape shape = group_shape(gpus, cluster);
  CollectiveFlows flows;
  if (shape.members <= 1) return flows;
  flows.algorithm = collective_cost(kind, algorithm, shape, bytes, cluster, calibration).algorithm;
  const Traffic traffic = traffic_of(kind, flows.algorithm, shape, bytes);
  flows.latency_s = latency_of(traffic, calibration);

  if (kind == CollectiveKind::all_to_all && !shape.regular()) {
    flows.edges = all_pairs(gpus, bytes, cluster, calibration);
    return flows;
  }
  const Nodes nodes = members_by_node(gpus, cluster);
  const size_t rails = shape.members_per_node;
  EdgeList edges(nodes, calibration);
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
  return flows;
}

}  // namespace windtunnel
