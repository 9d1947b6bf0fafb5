// How the members of a communicator are placed on the machine: everything that the closed form of a
// collective (collective.hpp) needs, so that it costs O(1) per call.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/machine/links/links.hpp"

namespace windtunnel {

// Load that a group's patterns across nodes put on the links between NICs: the time that the
// busiest link needs at nominal capacity while all lanes run the pattern (lane j: the j-th members
// of the nodes, j < members_per_node), in seconds per byte of a lane's payload. See
// models/network/groups/fabric_load.hpp.
struct FabricLoad {
  double ring = 0;      // every node sends a byte to the next
  double tree = 0;      // double tree: half a byte in each direction over every edge of both trees
  double pairs = 0;     // every node sends 1/N byte to each of the other N - 1
  double halving = 0;   // sequential exchanges at distance 2^k of 1/2^(k+1) byte
  double doubling = 0;  // sequential exchanges at distance 2^k of a whole byte
  double shifts = 0;    // as Pattern::shifts
  double to_first = 0;  // every other node sends a byte to the first
  double torus = 0;     // the edges of TorusBox (torus_box.hpp), for a group that fills one
  // Whether each link above the NICs belongs to one rail. Then lanes of different rails share no
  // link, so concurrent_per_nic groups share one, not concurrent_per_node.
  bool by_rail = false;
  // Nevertheless concurrent groups share links if lanes change rails. Groups on all GPUs of their
  // nodes load every rail of a pod equally: in the ring pattern each of concurrent_per_node groups
  // adds this share of the busiest link's load. 0: no lane changes rails.
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
using NodePorts = std::array<PortShares, 10>;  // [Pattern] (models/network/groups/pattern.hpp)

struct GroupShape {
  int members = 1;
  int members_per_node = 1;  // smallest number in any node; if regular, members = this * nodes
  int nodes = 1;
  int fabric_hops = 1;      // switches between members on two nodes; the maximum over pairs
  int members_per_nic = 1;  // largest number of this group's members behind one NIC
  int pool = -1;            // that holds all members; -1: several pools, or all nodes are alike
  double nic_factor = 1;    // bandwidth of the members' slowest NIC / of a NIC of their pool
  // If networks differ: the share of a node's pairs that cross networks, for the node with most of
  // them; and nic_factor for the pairs that do not cross.
  double crossing_pairs = 0;
  double own_nic_factor = 1;
  int concurrent_per_nic = 1;   // groups that use a member's NIC at the same time
  int concurrent_per_node = 1;  // groups that use a node, hence the pod's uplinks, at once
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

// Takes O(n log n) in trees; elsewhere every edge is routed. `concurrent_*` are left at 1, since
// other groups are not known here.
GroupShape group_shape(std::span<const std::int32_t> gpus, const LinkTable& links);
GroupShape group_shape(std::span<const std::int32_t> gpus, const Cluster& cluster);

// Bandwidth of the members' slowest NIC as a share of a NIC of their pool; across networks, as a
// share of the node's access to the common network.
double worst_nic_factor(std::span<const std::int32_t> gpus, int pool, const Cluster& cluster);

// Sets nic_factor, crossing_pairs and own_nic_factor. It reads the shape's pool and nodes.
void set_nic_factors(std::span<const std::int32_t> gpus, const Cluster& cluster, GroupShape& shape);

// Load on the ports of a node's members, in their order; `place`: the node's place in the group.
NodePorts node_ports(std::span<const std::int32_t> members, int place, const Cluster& cluster);

// Returns the shape with `concurrent_*` set (rounded up) for groups like this one that run
// concurrently on all GPUs of its nodes, as the replica groups of all tp ranks do.
GroupShape among_concurrent(GroupShape shape, const Cluster& cluster);

// Takes for every field the value that makes a collective slower: an upper bound for both groups.
GroupShape worse(const GroupShape& a, const GroupShape& b);
NodePorts worse(const NodePorts& a, const NodePorts& b);

}  // namespace windtunnel
