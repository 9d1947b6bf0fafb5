// How the members of a communicator lie on the machine: all that the closed form of a collective
// (collective.hpp) needs to know, so that it costs O(1) per call.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/machine/links/links.hpp"

namespace windtunnel {

// What a group's patterns across nodes ask of the links between the NICs: the time of the busiest
// one, at nominal capacities, when all lanes run the pattern (lane j: the j-th members of the
// nodes, j < members_per_node), in seconds per byte of a lane's payload. See
// models/network/groups/fabric_load.hpp.
struct FabricLoad {
  double ring = 0;      // every node a byte to the next
  double tree = 0;      // double tree: half a byte each way over every edge of both trees
  double pairs = 0;     // every ordered pair of N nodes 1/N byte
  double halving = 0;   // exchanges at distance 2^k of 1/2^(k+1) byte, one after the other
  double doubling = 0;  // the same of a whole byte each
  double shifts = 0;    // as Pattern::shifts
  double to_first = 0;  // every other node a byte to the first
  double torus = 0;     // the edges of TorusBox (torus_box.hpp), of a group that fills one
  // The links above the NICs are each of one rail: lanes of different rails share none, so that
  // concurrent_per_nic groups share one, not concurrent_per_node.
  bool by_rail = false;
  // Where lanes change rails groups beside this one meet on its links after all. On all GPUs of its
  // nodes they load every rail of a pod alike: with this share of the busiest link's load, ring,
  // for each of concurrent_per_node groups. 0: no lane does.
  double even_share = 0;

  bool operator==(const FabricLoad&) const = default;
};

inline constexpr std::array<double FabricLoad::*, 8> kFabricLoads = {
    &FabricLoad::ring,     &FabricLoad::tree,   &FabricLoad::pairs,    &FabricLoad::halving,
    &FabricLoad::doubling, &FabricLoad::shifts, &FabricLoad::to_first, &FabricLoad::torus};

// What a pattern among the members of a node puts on the busiest port to GPUs of the same package
// (NodeSpec::package_gpus) and on the busiest to others, as port_share() of all alike.
struct PortShares {
  double package = 0;
  double node = 0;
  bool operator==(const PortShares&) const = default;
};
using NodePorts = std::array<PortShares, 10>;  // by Pattern (models/network/groups/pattern.hpp)

struct GroupShape {
  int members = 1;
  int members_per_node = 1;  // the fewest in any node; n = this * nodes for a regular group
  int nodes = 1;
  int fabric_hops = 1;      // switches between two nodes' members, the most of any pair
  int members_per_nic = 1;  // the most of this group behind one NIC
  int pool = -1;            // of all members; -1: of several, or all nodes are alike
  double nic_factor = 1;    // of the slowest NIC among the members', of one of their pool's
  // Where networks differ: of pairs of nodes the share that crosses, of the node with the most, and
  // nic_factor of those pairs that do not.
  double crossing_pairs = 0;
  double own_nic_factor = 1;
  int concurrent_per_nic = 1;   // groups that share the member's NIC at the same time
  int concurrent_per_node = 1;  // and that share its node, hence the pod's uplinks
  FabricLoad load;
  double extra_latency_s = 0;  // of the longest cable between sites, beyond fabric_hops
  NodePorts ports;             // the most of any node; zero in nodes without packages
  // Of a group that fills a box of a torus: steps of its rings one after the other, and the most
  // cables of a step. 0: it fills none.
  int torus_steps = 0;
  int torus_hops = 0;

  bool regular() const { return members == members_per_node * nodes; }
  bool operator==(const GroupShape&) const = default;
};

// In trees O(n log n); elsewhere edge by edge. `concurrent_*` are left at 1: one group does not
// know the others.
GroupShape group_shape(std::span<const std::int32_t> gpus, const LinkTable& links);
GroupShape group_shape(std::span<const std::int32_t> gpus, const Cluster& cluster);

// What the slowest NIC among the members' gives, as a share of one of their pool's nodes; across
// networks, of what the node has of the common one.
double worst_nic_factor(std::span<const std::int32_t> gpus, int pool, const Cluster& cluster);

// Sets nic_factor, and what tells pairs of nodes that cross networks from those that do not; needs
// the pool and the number of nodes.
void set_nic_factors(std::span<const std::int32_t> gpus, const Cluster& cluster, GroupShape& shape);

// The ports of the members of the node at this place in its group, in their order.
NodePorts node_ports(std::span<const std::int32_t> members, int place, const Cluster& cluster);

// The shape when groups like this one run at once on all GPUs of its nodes, as the replica groups
// of all tp ranks do: sets `concurrent_*`, rounded up.
GroupShape among_concurrent(GroupShape shape, const Cluster& cluster);

// Takes for every field the value that makes a collective slower: an upper bound for both groups.
GroupShape worse(const GroupShape& a, const GroupShape& b);
NodePorts worse(const NodePorts& a, const NodePorts& b);

}  // namespace windtunnel
