// How the members of a communicator are placed on the machine: everything that the closed form of a
// collective (collective.hpp) needs, so that it costs O(1) per call.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/machine/links/links.hpp"

namespace windtunnel {

// Load of a group's patterns across nodes on the links between NICs: the time on the busiest one at
// nominal capacity, when all lanes run the pattern (lane j: the j-th members of the nodes, j <
// members_per_node), in seconds per byte of a lane's payload. See
// models/network/groups/fabric_load.hpp.
struct FabricLoad {
  double ring = 0;      // every node sends a byte to the next
  double tree = 0;      // double tree: half a byte in each direction over every edge of both trees
  double pairs = 0;     // in every ordered pair of N nodes one sends 1/N byte
  double halving = 0;   // sequential exchanges at distance 2^k of 1/2^(k+1) byte
  double doubling = 0;  // sequential exchanges at distance 2^k of a whole byte
  double shifts = 0;    // as Pattern::shifts
  double to_first = 0;  // every other node sends a byte to the first
  double torus = 0;     // the edges of TorusBox (torus_box.hpp), for a group that fills one
  // Each link above the NICs belongs to one rail, so lanes of different rails share none: only
  // concurrent_per_nic groups share a link, not concurrent_per_node.
  bool by_rail = false;
  // If lanes change rails, concurrent groups do share links. On all GPUs of their nodes they load
  // every rail of a pod equally: each of concurrent_per_node groups adds this share of the busiest
  // link's load, in the ring pattern. 0: no lane changes rails.
  double even_share = 0;

  bool operator==(const FabricLoad&) const = default;
};

inline constexpr std::array<double FabricLoad::*, 8> kFabricLoads = {
    &FabricLoad::ring,     &FabricLoad::tree,   &FabricLoad::pairs,    &FabricLoad::halving,
    &FabricLoad::doubling, &FabricLoad::shifts, &FabricLoad::to_first, &FabricLoad::torus};

// Load of a pattern inside a node on the busiest port to GPUs of the same package
// (NodeSpec::package_gpus) and on the busiest port to others, in the unit of port_share().
struct PortShares {
  double package = 0;
  double node = 0;
  bool operator==(const PortShares&) const = default;
};
using NodePorts = std::array<PortShares, 10>;  // by Pattern (models/network/groups/pattern.hpp)

struct GroupShape {
  int members = 1;
  int members_per_node = 1;  // smallest number in any node; regular group: members = this * nodes
  int nodes = 1;
  int fabric_hops = 1;      // switches between members on two nodes; the maximum over pairs
  int members_per_nic = 1;  // largest number of this group's members behind one NIC
  int pool = -1;            // of all members; -1: several pools, or all nodes are alike
  double nic_factor = 1;    // of the members' slowest NIC, relative to one of their pool
  // If networks differ: the share of node pairs that cross networks, for the node with most; and
  // nic_factor of the pairs that do not cross.
  double crossing_pairs = 0;
  double own_nic_factor = 1;
  int concurrent_per_nic = 1;   // groups that share the member's NIC at the same time
  int concurrent_per_node = 1;  // groups that share its node, hence the pod's uplinks
  FabricLoad load;
  double extra_latency_s = 0;  // of the longest cable between sites, in addition to fabric_hops
  NodePorts ports;             // maximum over nodes; zero in nodes without packages
  // For a group that fills a box of a torus: sequential steps of its rings, and the largest number
  // of cables in a step. 0: it fills none.
  int torus_steps = 0;
  int torus_hops = 0;

  bool regular() const { return members == members_per_node * nodes; }
  bool operator==(const GroupShape&) const = default;
};

// O(n log n) in trees, otherwise edge by edge. `concurrent_*` are left at 1, since other groups are
// not known here.
GroupShape group_shape(std::span<const std::int32_t> gpus, const LinkTable& links);
GroupShape group_shape(std::span<const std::int32_t> gpus, const Cluster& cluster);

// Bandwidth of the members' slowest NIC as a share of a NIC of their pool; across networks, as a
// share of the node's access to the common network.
double worst_nic_factor(std::span<const std::int32_t> gpus, int pool, const Cluster& cluster);

// Sets nic_factor, and the members about node pairs that cross networks; needs the pool and the
// number of nodes.
void set_nic_factors(std::span<const std::int32_t> gpus, const Cluster& cluster, GroupShape& shape);

// The ports of a node's members, in their order; `place`: the node's position in the group.
NodePorts node_ports(std::span<const std::int32_t> members, int place, const Cluster& cluster);

// The shape if groups like this one run concurrently on all GPUs of its nodes, as the replica
// groups of all tp ranks do: sets `concurrent_*`, rounded up.
GroupShape among_concurrent(GroupShape shape, const Cluster& cluster);

// Takes for every field the value that makes a collective slower: an upper bound for both groups.
GroupShape worse(const GroupShape& a, const GroupShape& b);
NodePorts worse(const NodePorts& a, const NodePorts& b);

}  // namespace windtunnel
