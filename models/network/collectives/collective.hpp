// Collectives: one description, two forms. The closed form is a time on an idle network; the flows
// are one fluid transfer per edge, which compete with everything else for links. Both put the same
// load on every link and carry the same latency, so they agree on an idle network.
//
// Byte counts: Thakur et al. 2005; Sanders et al. 2009 (double binary trees); NCCL's rings, one per
// member of a node so that every NIC carries an equal share (src/graph/tuning.cc, PXN).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/base/origin.hpp"
#include "models/calibration/calibration.hpp"
#include "models/machine/cluster.hpp"
#include "models/machine/links/links.hpp"
#include "models/network/groups/collective_choice.hpp"
#include "models/network/groups/group_shape.hpp"

namespace windtunnel {

struct CollectiveCost {
  double seconds = 0;
  Origin origin = Origin::assumed;
  double transfer_s = 0;  // of it: the busiest link's bytes / (its bandwidth * efficiency)
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;  // the one that ran
  Protocol protocol = Protocol::simple;
  bool operator==(const CollectiveCost&) const = default;
};

// Closed form on an idle network, in O(1): launch + steps * latency per step, and the busiest
// link's bytes / (its bandwidth * efficiency), together as law_seconds() has it. A step across
// nodes takes the NIC's latency and that of the switches on the longest way between two neighbours
// (GroupShape::fabric_hops). `bytes` is the size S of the full buffer (the nccl-tests size column):
// what all_reduce reduces, what all_gather leaves on every rank, what reduce_scatter starts from,
// what a rank of all_to_all sends in all, its own part included.
//
// `automatic` takes the cheapest of ring, tree and hierarchical (ties in this order); where the
// algorithm asked for does not apply to the group (collective_steps.hpp), the kind's usual one
// runs.
//
// n members, g per node, N nodes; payload of the busiest NVLink port and of a member's NIC; f =
// (n-1)/n, all-reduce twice that, likewise for its steps:
//   ring         n-1 steps, N-1 of them across nodes; f S and f S/g
//   tree         2(g-1) steps in the node, 2 ceil(log2 N) across; 2 (g-1)/g S and min(N,4)/2 S/g
//   hierarchical one step to scatter in the node, N-1 across on every rail, one to gather;
//                (g-1)/g S and (N-1)/N S/g (all-reduce twice)
//   recursive doubling   log2 g and log2 N steps of S each, one after the other
//   halving doubling     2 log2 g and 2 log2 N; 2 (g-1)/g S, then 2 (N-1)/N S/g
//   nvls, nvls tree      (1 + 1/g) S (all-gather, reduce-scatter S); ring per rail, or tree
//   collnet      2 (g-1)/g S; S/g each way, one step through the tree of switches
//   pat          ceil(log2 N) steps; (N-1)/N S
//   hfreduce     S over PCIe each way, the hosts' memory, and a tree's bytes between nodes
//   broadcast, reduce    a pipelined chain: n-1 steps; S and S/g
//   all to all   first within the node to the receiver's rail, then along it (PXN): (g-1) + (N-1)
//                steps pairwise, 1 + 1 direct; (g-1)/g S and (n-g)/n S, g being the fewest on any
//                node
//   gather       likewise, all to member 0: (g-1)/n S and (n-g)/n S on its NIC (irregular groups:
//                at most; without NVLink flows take up to a fifth longer, since the root's PCIe
//                link idles once the node's own are in)
//   send, receive        S on one NIC of every node
// Uplinks of a pod carry what leaves it: one edge per ring, the trees' edges, all pairs of
// all_to_all. Traffic between rails of an irregular group is not counted here; flows route it.
// Without NVLink what crosses a GPU's PCIe link, to its node and to others, adds up.
CollectiveCost collective_cost(CollectiveKind kind, CollectiveChoice choice,
                               const GroupShape& shape, double bytes, const Cluster& cluster,
                               const Calibration& calibration);

// The same of a kind, choice and group that are asked for at many sizes (collective_law.hpp).
class CollectiveLaw;
CollectiveCost collective_cost(const CollectiveLaw& law, double bytes);

// A transfer from members[source] to members[destination]. `bytes` is what it occupies of the links
// on its route: payload / efficiency (NVLink's inside a node, the NIC's between nodes), so that a
// link's load over its nominal capacity is the time that the closed form gives.
struct CollectiveEdge {
  std::int32_t source = 0;
  std::int32_t destination = 0;
  double bytes = 0;
};

// Bytes that a member moves over a resource of its node: HFReduce's copies over PCIe and its sums
// in host memory.
struct CollectiveDemand {
  std::int32_t member = 0;
  Resource resource = Resource::pcie_out;
  double bytes = 0;
};

struct CollectiveFlows {
  double latency_s = 0;  // before the bytes flow: the closed form's time less the transfer
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  std::vector<CollectiveEdge> edges;  // all at once: a pipelined algorithm is one fluid phase
  std::vector<CollectiveDemand> demands;
  // Edges do not wait for each other: each is a pipelined flow of its own
  // (sim/engine/flow_table.hpp).
  bool independent = false;
};

// `gpus` = the members' GPUs, each once; members of a node are taken together, in the given order.
// `automatic` picks as collective_cost does for the group alone.
CollectiveFlows collective_flows(CollectiveKind kind, CollectiveChoice choice,
                                 std::span<const std::int32_t> gpus, double bytes,
                                 const Cluster& cluster, const Calibration& calibration);

// All-to-all with sizes of its own: bytes[from * n + to] from member to member (alltoallv). Closed:
// the busiest link of all routes, O(n^2).
CollectiveCost all_to_all_v_cost(std::span<const double> bytes, std::span<const std::int32_t> gpus,
                                 const Cluster& cluster, const Calibration& calibration);
CollectiveFlows all_to_all_v_flows(std::span<const double> bytes,
                                   std::span<const std::int32_t> gpus, const Cluster& cluster,
                                   const Calibration& calibration);

}  // namespace windtunnel
