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
// link's bytes / (its bandwidth * efficiency), together as law_seconds() has it. `bytes` is the
// size S of the full buffer (the nccl-tests size column): what all_reduce reduces, what all_gather
// leaves on every rank, what reduce_scatter starts from, what a rank of all_to_all sends in all,
// its own part included.
//
// Without an interconnect law `automatic` takes the cheapest of ring, tree and hierarchical (ties
// in this order), with one what NCCL's tuner picks; an algorithm that does not apply to the group
// gives way to the kind's usual one. Steps and bytes of each, and which runs:
// docs/physics/collectives.md.
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
  double wire_share = 1;  // of `bytes`, on all links but the NICs: FabricSpec::measured
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
// `shape`: group_shape(gpus, cluster), of a group that is asked about more than once.
CollectiveFlows collective_flows(CollectiveKind kind, CollectiveChoice choice,
                                 const GroupShape& shape, std::span<const std::int32_t> gpus,
                                 double bytes, const Cluster& cluster,
                                 const Calibration& calibration);

// All-to-all with sizes of its own: bytes[from * n + to] from member to member (alltoallv). Closed:
// the busiest link of all routes, O(n^2).
CollectiveCost all_to_all_v_cost(std::span<const double> bytes, std::span<const std::int32_t> gpus,
                                 const Cluster& cluster, const Calibration& calibration);
CollectiveFlows all_to_all_v_flows(std::span<const double> bytes,
                                   std::span<const std::int32_t> gpus, const Cluster& cluster,
                                   const Calibration& calibration);
// The edges alone, of what runs by a choice; `shape`: group_shape(gpus, cluster).
std::vector<CollectiveEdge> all_to_all_v_edges(std::span<const double> bytes,
                                               CollectiveChoice choice, const GroupShape& shape,
                                               std::span<const std::int32_t> gpus,
                                               const Cluster& cluster,
                                               const Calibration& calibration);

}  // namespace windtunnel
