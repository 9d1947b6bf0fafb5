#include "models/network/groups/group_shapes.hpp"

#include <algorithm>

#include "models/base/error.hpp"
#include "models/machine/fabrics/tree.hpp"
#include "models/network/groups/fabric_load.hpp"

namespace windtunnel {
namespace {

// Groups begin at each position in a node in turn, so a group is compared with that many earlier
// ones, or a few. With more, groups that are all placed differently would be compared for longer
// than measuring them takes.
std::size_t remembered(const Cluster& cluster) {
  constexpr int kFew = 16;
  return static_cast<std::size_t>(std::max(kFew, cluster.node.gpus));
}

}  // namespace

GroupShapes::GroupShapes(const Cluster& cluster) : links_(LinkTable::keeping_reference(cluster)) {}

GroupShape GroupShapes::of(std::span<const std::int32_t> gpus) {
  CHECK(!gpus.empty(), "a collective needs members");
  for (const Measured& known : measured_) {
    if (!alike(known.gpus, gpus)) continue;
    GroupShape shape = known.shape;  // groups placed alike may differ in their NICs
    set_nic_factors(gpus, links_.cluster(), shape);
    return shape;
  }
  const std::size_t most = remembered(links_.cluster());
  if (measured_.size() < most) measured_.emplace_back();
  Measured& place = measured_[oldest_];
  oldest_ = (oldest_ + 1) % most;
  place = {{gpus.begin(), gpus.end()}, group_shape(gpus, links_)};
  return place.shape;
}

bool GroupShapes::alike(std::span<const std::int32_t> known,
                        std::span<const std::int32_t> gpus) const {
  if (known.size() != gpus.size()) return false;
  return is_even_tree(links_.cluster().fabric) ? moved_in_tree(known, gpus)
                                               : on_same_nodes(known, gpus);
}

// Whether the group is a known one moved by whole nodes, or to another GPU of every node, with the
// same relations between links of equal speed. The GPU may change only if nodes have one member
// each, because several members might share NICs or packages differently.
bool GroupShapes::moved_in_tree(std::span<const std::int32_t> known,
                                std::span<const std::int32_t> gpus) const {
  const Cluster& cluster = links_.cluster();
  const auto apart = [&](int gpu, int other) {
    return cluster.ranks.gpu_of(gpu) - cluster.ranks.gpu_of(other);
  };
  const int distance = apart(gpus.front(), known.front());
  const bool by_nodes = distance % cluster.node.gpus == 0;
  const int nics_apart = nic_of(cluster, gpus.front()) - nic_of(cluster, known.front());
  const int nodes_apart = cluster.node_of(gpus.front()) - cluster.node_of(known.front());
  int last_node = -1;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (apart(gpus[i], known[i]) != distance) return false;
    if (cluster.pool_of(gpus[i]) != cluster.pool_of(known[i])) return false;
    if (by_nodes) continue;
    const int node = cluster.node_of(known[i]);
    if (node <= last_node || cluster.node_of(gpus[i]) - node != nodes_apart ||
        nic_of(cluster, gpus[i]) - nic_of(cluster, known[i]) != nics_apart) {
      return false;
    }
    last_node = node;
  }
  if (cluster.nodes == 1) return true;
  const auto& tree = static_cast<const TreeLinks&>(links_.fabric());
  for (int level = 0; level < tree.levels(); ++level) {
    const auto above = [&](int gpu) { return tree.up_link(level, nic_of(cluster, gpu)); };
    const int links_apart = above(gpus.front()) - above(known.front());
    int last = -1;
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      const int link = above(known[i]);
      if (above(gpus[i]) - link != links_apart) return false;
      if (link == last) continue;
      last = link;
      if (tree.capacity(link) != tree.capacity(link + links_apart)) return false;
    }
  }
  return true;
}

// Whether both have one member on each of the same nodes, in the same order, and the NICs of a node
// are attached to one switch.
bool GroupShapes::on_same_nodes(std::span<const std::int32_t> known,
                                std::span<const std::int32_t> gpus) const {
  const Cluster& cluster = links_.cluster();
  const FabricSpec& fabric = cluster.fabric;
  const bool by_node = fabric.topology == Topology::torus ||
                       fabric.topology == Topology::dragonfly || fabric.topology == Topology::sites;
  if (!by_node || !joins_bundles(fabric.routing)) return false;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const int node = cluster.node_of(gpus[i]);
    if (node != cluster.node_of(known[i])) return false;
    if (i > 0 && node <= cluster.node_of(gpus[i - 1])) return false;
  }
  return true;
}

void WorstShape::add(std::span<const std::int32_t> gpus) {
  const GroupShape shape = shapes_.of(gpus);
  shape_ = empty_ ? shape : worse(shape_, shape);
  empty_ = false;
}

}  // namespace windtunnel
