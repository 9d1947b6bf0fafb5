// How the tp, cp and ep groups of a layout lie on the machine: of each kind the worst one, because
// a stage waits for the slowest. Cheap for tens of thousands of ranks: groups of consecutive ranks
// repeat when the place in the pod does.
#pragma once

#include <cstdint>
#include <vector>

#include "models/machine/cluster.hpp"
#include "models/network/groups/group_shape.hpp"
#include "models/workload/layout.hpp"

namespace windtunnel {

// Shapes when all groups of a kind run at once. Each has one member where the layout does not
// divide.
GroupShape tensor_group_shape(const Layout& layout, const Cluster& cluster);
// The rows, or the columns, of the meshes of tp consecutive ranks among `ranks`, as
// Layout::mesh_block lays them.
std::vector<std::vector<std::int32_t>> mesh_groups(const Layout& layout, bool rows, int ranks);
struct MeshShapes {
  GroupShape row;
  GroupShape column;
};
MeshShapes tensor_mesh_shapes(const Layout& layout, const Cluster& cluster);

GroupShape expert_group_shape(const Layout& layout, const Cluster& cluster);

// The shape of the ranks that exchange heads for tokens (Ulysses), or one dimension for another
// (DSP): neighbours of cp.
GroupShape context_exchange_shape(const Layout& layout, const Cluster& cluster);

// For CollectiveAlgorithm::ring: neighbours send to each other, so that of a node's members one
// crosses to the next node, with everything.
GroupShape context_ring_shape(const Layout& layout, const Cluster& cluster);

}  // namespace windtunnel
