// How the tp, cp and ep groups of a layout are placed on the machine: the worst group of each kind,
// because a stage waits for the slowest. Cheap for tens of thousands of ranks: shapes repeat when
// groups of consecutive ranks have the same position in a pod.
#pragma once

#include <cstdint>
#include <vector>

#include "models/machine/cluster.hpp"
#include "models/network/groups/group_shape.hpp"
#include "models/workload/layout.hpp"

namespace windtunnel {

// Shapes with all groups of a kind running concurrently. They have one member if the layout does
// not divide.
GroupShape tensor_group_shape(const Layout& layout, const Cluster& cluster);
// Every tp consecutive ranks of `ranks` form a mesh, ordered by Layout::mesh_block; returns the
// rows, or the columns, of all meshes.
std::vector<std::vector<std::int32_t>> mesh_groups(const Layout& layout, bool rows, int ranks);
struct MeshShapes {
  GroupShape row;
  GroupShape column;
};
MeshShapes tensor_mesh_shapes(const Layout& layout, const Cluster& cluster);

GroupShape expert_group_shape(const Layout& layout, const Cluster& cluster);

// The shape of the ranks that exchange heads for tokens (Ulysses), or one dimension for another
// (DSP): neighbouring cp ranks.
GroupShape context_exchange_shape(const Layout& layout, const Cluster& cluster);

// The shape for CollectiveAlgorithm::ring: neighbours send to each other, so one of a node's
// members sends everything to the next node.
GroupShape context_ring_shape(const Layout& layout, const Cluster& cluster);

}  // namespace windtunnel
