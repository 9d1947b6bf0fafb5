#include "models/network/groups/parallel_groups.hpp"

#include <algorithm>
#include <numeric>

#include "models/base/error.hpp"
#include "models/machine/links/links.hpp"
#include "models/network/groups/fabric_load.hpp"
#include "models/network/groups/group_shapes.hpp"

namespace windtunnel {
namespace {

bool may_have_slow_nic(const Cluster& cluster, int first_gpu, int gpus) {
  if (has_uneven_nics(cluster)) return true;
  const int first = cluster.node_of(first_gpu);
  const int last = cluster.node_of(first_gpu + gpus - 1);
  return std::ranges::any_of(cluster.degraded_nics, [&](const DegradedNic& nic) {
    return nic.node >= first && nic.node <= last;
  });
}

// Returns the worst shape among the groups of `size` consecutive ranks.
GroupShape consecutive_shape(int size, int ranks, const Cluster& cluster) {
  if (size == 1) return {};
  CHECK(ranks <= cluster.gpus() && ranks % size == 0, "{} ranks in groups of {}, {} GPUs", ranks,
        size, cluster.gpus());
  const FabricSpec& fabric = cluster.fabric;
  int pod_nodes = fabric.nodes_per_pod;
  if (pod_nodes == 0) pod_nodes = fabric.topology == Topology::clos ? fabric.nodes_per_leaf : 1;
  const bool even = cluster.in_order() && is_even_tree(fabric);
  const int period = std::lcm(size, pod_nodes * cluster.node.gpus);
  // The last pod may be smaller than the others.
  const int whole_pods_end = cluster.nodes / pod_nodes * pod_nodes * cluster.node.gpus;
  WorstShape worst(cluster);
  std::vector<std::int32_t> group(size);
  for (int start = 0; start < ranks; start += size) {
    if (!cluster.in_part(start)) continue;
    const bool known = even && start >= period && start + size <= whole_pods_end;
    if (known && !may_have_slow_nic(cluster, start, size)) continue;
    std::iota(group.begin(), group.end(), start);
    worst.add(group);
  }
  return among_concurrent(worst.shape(), cluster);
}

// The worst shape among all groups of `size` ranks, `stride` apart, that divide blocks of size *
// stride ranks.
GroupShape worst_strided_shape(int size, int stride, const Layout& layout, const Cluster& cluster) {
  CHECK(layout.ranks() <= cluster.gpus(), "{} ranks, {} GPUs", layout.ranks(), cluster.gpus());
  WorstShape worst(cluster);
  std::vector<std::int32_t> group(size);
  for (int block = 0; block < layout.ranks(); block += size * stride) {
    if (!cluster.in_part(block)) continue;
    for (int first = block; first < block + stride; ++first) {
      for (int i = 0; i < size; ++i) group[i] = first + i * stride;
      worst.add(group);
    }
  }
  return among_concurrent(worst.shape(), cluster);
}

}  // namespace

GroupShape tensor_group_shape(const Layout& layout, const Cluster& cluster) {
  const bool in_nodes = cluster.ranks.in_order() && cluster.node.gpus % layout.tp == 0;
  if (layout.tp > 1 && in_nodes) {  // then all groups are alike
    std::vector<std::int32_t> group(layout.tp);
    std::iota(group.begin(), group.end(), cluster.part.empty() ? 0 : cluster.part.front().first);
    return group_shape(group, cluster);
  }
  return consecutive_shape(layout.tp, layout.ranks(), cluster);
}

std::vector<std::vector<std::int32_t>> mesh_groups(const Layout& layout, bool rows, int ranks) {
  const int side = layout.mesh_side();
  const int block = layout.mesh_block;
  const auto rank_at = [&](int row, int column) {
    const int square = row / block * (side / block) + column / block;
    return (square * block + row % block) * block + column % block;
  };
  std::vector<std::vector<std::int32_t>> groups;
  for (int first = 0; first < ranks; first += layout.tp) {
    for (int line = 0; line < side; ++line) {
      std::vector<std::int32_t>& group = groups.emplace_back();
      for (int i = 0; i < side; ++i) {
        group.push_back(first + (rows ? rank_at(line, i) : rank_at(i, line)));
      }
    }
  }
  return groups;
}

MeshShapes tensor_mesh_shapes(const Layout& layout, const Cluster& cluster) {
  if (layout.mesh_side() == 1) return {};
  CHECK(layout.ranks() <= cluster.gpus(), "{} ranks, {} GPUs", layout.ranks(), cluster.gpus());
  const auto worst_of = [&](bool rows) {
    WorstShape worst(cluster);
    for (const auto& group : mesh_groups(layout, rows, layout.ranks())) {
      if (cluster.in_part(group.front())) worst.add(group);
    }
    return among_concurrent(worst.shape(), cluster);
  };
  return {worst_of(true), worst_of(false)};
}

GroupShape expert_group_shape(const Layout& layout, const Cluster& cluster) {
  const int stride = layout.expert_stride();
  if (stride > 1 && layout.ep > 1) return worst_strided_shape(layout.ep, stride, layout, cluster);
  return consecutive_shape(layout.ep, layout.ranks(), cluster);
}

GroupShape context_exchange_shape(const Layout& layout, const Cluster& cluster) {
  const int ranks = layout.exchange_ranks();
  if (ranks == 1) return {};
  return worst_strided_shape(ranks, layout.tp, layout, cluster);
}

GroupShape context_ring_shape(const Layout& layout, const Cluster& cluster) {
  const int ring = layout.ring_ranks();
  if (ring == 1) return {};
  GroupShape shape =
      worst_strided_shape(ring, layout.tp * layout.exchange_ranks(), layout, cluster);
  if (shape.nodes == 1) return shape;
  const int lanes = shape.load.by_rail ? shape.members_per_nic : shape.members_per_node;
  shape.load = scaled(shape.load, 1.0 / lanes);
  shape.members_per_node = 1;
  shape.members_per_nic = 1;
  shape.ports = {};
  return shape;
}

}  // namespace windtunnel
