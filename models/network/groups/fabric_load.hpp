// Computes FabricLoad (group_shape.hpp), the load of a group's patterns (pattern.hpp) on the links
// between NICs, for the closed form of collectives.
//
// Trees under ideal spraying are computed by arithmetic, O(N log N) for N nodes. In all other cases
// every edge is routed on the paths of PathChooser, so that the load, collisions included, equals
// that of the flows. If there are more than kMostPairs pairs, only some are routed: whole
// permutations of the nodes (i to i + d for evenly spaced distances d), with their load scaled up.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/machine/links/links.hpp"
#include "models/network/groups/group_shape.hpp"
#include "models/network/groups/torus_box.hpp"

namespace windtunnel {

inline constexpr int kMostPairs = 1 << 15;

// The GPUs that communicate across nodes: lane j has the j-th member of every node.
struct Lanes {
  int lanes = 1;
  std::vector<std::int32_t> gpus;  // [node * lanes + lane], nodes in the order of the pattern

  int nodes() const { return static_cast<int>(gpus.size()) / lanes; }
  int gpu(size_t node, int lane) const { return gpus[node * lanes + lane]; }
};

// The box that the nodes fill; none if they do not fill one, or the fabric is no torus.
std::optional<TorusBox> torus_box(const Lanes& lanes, const Cluster& cluster);

// Whether groups that differ only by a shift of whole pods load this fabric equally.
bool is_even_tree(const FabricSpec& fabric);

FabricLoad fabric_load(const Lanes& lanes, const LinkTable& links);

// Computed by routing edge by edge, on any fabric.
FabricLoad routed_fabric_load(const Lanes& lanes, const LinkTable& links);

FabricLoad scaled(FabricLoad load, double lanes);

// Describes the longest path that a lane takes between two nodes.
struct LongestWay {
  int hops = 1;
  double extra_latency_s = 0;
};
LongestWay longest_way(const Lanes& lanes, const LinkTable& links);

// Returns distances d of permutations i -> i + d: all from 1 to n-1, or about `most` of these.
std::vector<int> sampled_distances(int n, int most);

}  // namespace windtunnel
