// The load of a group's patterns (pattern.hpp) on the links between the NICs, for the closed form
// of collectives: FabricLoad (group_shape.hpp).
//
// Trees under ideal spraying are counted by arithmetic, O(N log N) for N nodes. Everything else is
// routed edge by edge, with the ways that PathChooser takes: the load that the flows put on the
// links too, collisions included. Of more pairs than kMostPairs only some are routed, whole
// permutations of the nodes (i to i + d for some distances d, evenly apart), and their load is
// scaled to all.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/machine/links/links.hpp"
#include "models/network/groups/group_shape.hpp"
#include "models/network/groups/torus_box.hpp"

namespace windtunnel {

inline constexpr int kMostPairs = 1 << 15;

// The GPUs that talk across nodes: lane j has the j-th member of every node.
struct Lanes {
  int lanes = 1;
  std::vector<std::int32_t> gpus;  // [node * lanes + lane], nodes in the order of the pattern

  int nodes() const { return static_cast<int>(gpus.size()) / lanes; }
  int gpu(size_t node, int lane) const { return gpus[node * lanes + lane]; }
};

// That the nodes fill; nothing: they fill none, or the fabric is no torus.
std::optional<TorusBox> torus_box(const Lanes& lanes, const Cluster& cluster);

// Whether the load on this fabric is the same for groups moved by whole pods: by arithmetic.
bool is_even_tree(const FabricSpec& fabric);

FabricLoad fabric_load(const Lanes& lanes, const LinkTable& links);

// By routing, whatever the fabric.
FabricLoad routed_fabric_load(const Lanes& lanes, const LinkTable& links);

FabricLoad scaled(FabricLoad load, double lanes);

// Between the members of a lane on two nodes, the longest of any two.
struct LongestWay {
  int hops = 1;
  double extra_latency_s = 0;
};
LongestWay longest_way(const Lanes& lanes, const LinkTable& links);

// Distances d of permutations i -> i + d: all of 1 .. n-1, or about `most` of them.
std::vector<int> sampled_distances(int n, int most);

}  // namespace windtunnel
