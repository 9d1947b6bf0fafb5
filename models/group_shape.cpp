#include "models/group_shape.hpp"

#include <algorithm>

#include "models/base/error.hpp"
#include "models/double_tree.hpp"

namespace windtunnel {
namespace {

// Nodes of a group in one pod.
struct PodShare {
  int pod = 0;
  int nodes = 0;
};

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
    most = std::max(most, static_cast<double>(edges[i]) / nodes_of_pod(cluster, pods[i].pod));
  }
  return most;
}

void add_pods(const std::vector<PodShare>& pods, const std::vector<int>& pod_of_node,
              const Cluster& cluster, GroupShape& shape) {
  shape.pods = static_cast<int>(pods.size());
  shape.smallest_pod_nodes = cluster.nodes;
  if (shape.pods > 1) {
    shape.tree_edges_per_pod_node = tree_edges_per_pod_node(pod_of_node, pods, cluster);
  }
  for (const PodShare& share : pods) {
    const int size = nodes_of_pod(cluster, share.pod);
    shape.smallest_pod_nodes = std::min(shape.smallest_pod_nodes, size);
    shape.pod_pairs_per_node =
        std::max(shape.pod_pairs_per_node,
                 static_cast<double>(share.nodes) * (shape.nodes - share.nodes) / size);
  }
}

int ceil_divide(int a, int b) {
  return (a + b - 1) / b;
}

}  // namespace

GroupShape group_shape(std::span<const std::int32_t> gpus, const Cluster& cluster) {
  return group_shape(gpus, LinkTable(cluster));
}

GroupShape group_shape(std::span<const std::int32_t> gpus, const LinkTable& links) {
  const Cluster& cluster = links.cluster();
  CHECK(!gpus.empty(), "a collective needs members");
  std::vector<std::int32_t> sorted(gpus.begin(), gpus.end());
  std::sort(sorted.begin(), sorted.end());

  GroupShape shape;
  shape.members = static_cast<int>(sorted.size());
  shape.members_per_node = shape.members;
  shape.nodes = 0;
  std::vector<PodShare> pods;
  std::vector<int> pod_of_node;  // index into pods
  std::vector<size_t> first_of_node;
  for (size_t i = 0; i < sorted.size();) {
    const int node = cluster.node_of(sorted[i]);
    const int pod = pod_of(cluster, sorted[i]);
    if (pods.empty() || pods.back().pod != pod) pods.push_back({pod, 0});
    ++shape.nodes;
    ++pods.back().nodes;
    pod_of_node.push_back(static_cast<int>(pods.size()) - 1);
    const size_t first = i;
    first_of_node.push_back(first);
    int behind_nic = 0;
    int last_nic = -1;
    for (; i < sorted.size() && cluster.node_of(sorted[i]) == node; ++i) {
      const int nic = nic_of(cluster, sorted[i]);
      behind_nic = nic == last_nic ? behind_nic + 1 : 1;
      last_nic = nic;
      shape.members_per_nic = std::max(shape.members_per_nic, behind_nic);
      shape.nic_factor = std::min(shape.nic_factor, nic_factor(cluster, nic));
    }
    shape.members_per_node = std::min(shape.members_per_node, static_cast<int>(i - first));
  }
  // Steps across nodes go from the i-th member of one to the i-th of another.
  for (const size_t first : first_of_node) {
    for (int i = 0; i < shape.members_per_node; ++i) {
      shape.fabric_hops =
          std::max(shape.fabric_hops, links.switch_hops(sorted[i], sorted[first + i]));
    }
  }
  add_pods(pods, pod_of_node, cluster, shape);
  return shape;
}

GroupShape among_concurrent(GroupShape shape, const NodeSpec& node) {
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
  worst.pods = std::max(a.pods, b.pods);
  worst.smallest_pod_nodes = std::min(a.smallest_pod_nodes, b.smallest_pod_nodes);
  worst.pod_pairs_per_node = std::max(a.pod_pairs_per_node, b.pod_pairs_per_node);
  worst.tree_edges_per_pod_node = std::max(a.tree_edges_per_pod_node, b.tree_edges_per_pod_node);
  worst.fabric_hops = std::max(a.fabric_hops, b.fabric_hops);
  worst.members_per_nic = std::max(a.members_per_nic, b.members_per_nic);
  worst.nic_factor = std::min(a.nic_factor, b.nic_factor);
  worst.concurrent_per_nic = std::max(a.concurrent_per_nic, b.concurrent_per_nic);
  worst.concurrent_per_node = std::max(a.concurrent_per_node, b.concurrent_per_node);
  return worst;
}

WorstShape::WorstShape(const Cluster& cluster) : links_(cluster), known_(cluster.node.gpus) {}

void WorstShape::add(std::span<const std::int32_t> gpus) {
  CHECK(!gpus.empty(), "a collective needs members");
  const Cluster& cluster = links_.cluster();
  std::vector<std::int32_t>& known = known_[gpus.front() % cluster.node.gpus];
  if (moved(known, gpus)) {  // only its NICs may be different ones
    for (const int gpu : gpus) {
      shape_.nic_factor = std::min(shape_.nic_factor, nic_factor(cluster, nic_of(cluster, gpu)));
    }
    return;
  }
  const GroupShape shape = group_shape(gpus, links_);
  shape_ = empty_ ? shape : worse(shape_, shape);
  empty_ = false;
  known.assign(gpus.begin(), gpus.end());
}

bool WorstShape::moved(std::span<const std::int32_t> known,
                       std::span<const std::int32_t> gpus) const {
  if (known.size() != gpus.size()) return false;
  const Cluster& cluster = links_.cluster();
  // Both start at the same place of a node, so the distance is a whole number of nodes.
  const int distance = gpus.front() - known.front();
  const int pods = pod_of(cluster, gpus.front()) - pod_of(cluster, known.front());
  for (size_t i = 0; i < gpus.size(); ++i) {
    if (gpus[i] - known[i] != distance) return false;
    const int pod = pod_of(cluster, gpus[i]);
    const int known_pod = pod_of(cluster, known[i]);
    if (pod - known_pod != pods) return false;
    if (nodes_of_pod(cluster, pod) != nodes_of_pod(cluster, known_pod)) return false;
  }
  return true;
}

}  // namespace windtunnel
