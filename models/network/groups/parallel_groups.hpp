// Finds how the tp, cp and ep groups of a layout are placed on the machine: the worst group of each
// kind, because a stage waits for the slowest. This is cheap for tens of thousands of ranks: shapes
// repeat when groups of consecutive ranks have the same position in a pod.
#pragma once

#include <cstdint>
#include <vector>

#include "models/machine/cluster.hpp"
#include "models/network/groups/group_shape.hpp"
#include "models/workload/layout.hpp"

namespace windtunnel {

// Shapes of groups while all groups of their kind run concurrently. A shape has one member if the
// layout does not divide along that axis.
GroupShape tensor_group_shape(const Layout& layout, const Cluster& cluster);
// Every tp consecutive ranks of `ranks` form a mesh, ordered by Layout::mesh_block. Returns the
// members of each row, or of each column, of all meshes.
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

// The shape of a ring of cp ranks (CollectiveAlgorithm::ring). Neighbours send to each other, so
// one of a node's members sends everything to the next node.
GroupShape context_ring_shape(const Layout& layout, const Cluster& cluster);

}  // namespace windtunnel
