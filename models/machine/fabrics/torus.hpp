// Torus: node n has the mixed-radix coordinates of n (the first dimension varies fastest) and a
// cable to each neighbour; bytes travel dimension by dimension, each the shorter way round.
//
// Dally & Seitz, "Deadlock-free message routing in multiprocessor interconnection networks", IEEE
// Trans. Computers 1987 (dimension order); Jouppi et al., "TPU v4", ISCA 2023 (4 x 4 x 4 cubes).
#pragma once

#include <memory>

#include "models/machine/fabrics/fabric_links.hpp"

namespace windtunnel {

// A dimension of size 2 has one cable, of size 1 none. Under spray a pair has one path, in the
// order of dimensions: uniform traffic then loads all cables of a dimension equally, like an ideal
// spread over all orders. Otherwise every order of dimensions is a path.
std::unique_ptr<const FabricLinks> make_torus_links(const Cluster& cluster);
// Returns the bandwidth of a cable of this dimension per direction.
double cable_Bps(const Cluster& cluster, int dimension);

// The number of slices of a torus that a data-centre network joins: if FabricSpec::wan_Bps is
// stated, the last of FabricSpec::dimensions, otherwise 1.
int slices_of(const FabricSpec& fabric);
int slice_of(const FabricSpec& fabric, int place);
// Time in which slices sum the gradients of one layer and compute nothing else. It is independent
// of the bytes: some rounds of FabricSpec::wan_latency_s, docs/physics/chips.md, "Slices over the
// data-centre network".
double slice_rounds_s(const FabricSpec& fabric, int slices);

}  // namespace windtunnel
