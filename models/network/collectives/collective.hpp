// Each collective is described once and evaluated in two forms. The closed form is a time on an
// idle network. The flow form has one fluid transfer per edge, which competes with all other
// traffic for links. Both forms put the same load on every link and have the same latency, so they
// agree on an idle network.
//
// Byte counts follow Thakur et al. 2005, Sanders et al. 2009 (double binary trees) and NCCL
// (src/graph/tuning.cc, PXN): it has one ring per member of a node, so that every NIC carries an
// equal share.
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
  // The busiest link carries its bytes in this time: bytes / (bandwidth * efficiency).
  double transfer_s = 0;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;  // the one that ran
  Protocol protocol = Protocol::simple;
  bool operator==(const CollectiveCost&) const = default;
};

// Time on an idle network by the closed form, in O(1). law_seconds() combines the latency, launch +
// steps * latency per step, with the time of the busiest link, bytes / (bandwidth * efficiency).
// `bytes` is the size S of the full buffer (the nccl-tests size column): the input of all_reduce,
// the result of all_gather on every rank, the input of reduce_scatter, and everything that a rank
// of all_to_all sends, including its own part.
//
// `automatic` takes the choice of NCCL's tuner if there is an interconnect law, otherwise the
// cheapest of ring, tree and hierarchical (ties in this order). An algorithm that does not apply to
// the group is replaced by the kind's default. docs/physics/collectives.md lists the steps and
// bytes of each algorithm and says which one runs.
CollectiveCost collective_cost(CollectiveKind kind, CollectiveChoice choice,
                               const GroupShape& shape, double bytes, const Cluster& cluster,
                               const Calibration& calibration);

// The same cost from a law that was prepared once for many sizes (collective_law.hpp).
class CollectiveLaw;
CollectiveCost collective_cost(const CollectiveLaw& law, double bytes);

// A transfer from members[source] to members[destination]. `bytes` is its load on the links of its
// route: payload / efficiency (of NVLink inside a node, of the NIC between nodes). The load of a
// link divided by its nominal capacity is then the time of the closed form.
struct CollectiveEdge {
  std::int32_t source = 0;
  std::int32_t destination = 0;
  double bytes = 0;
  double wire_share = 1;  // links other than NICs carry bytes * this; below 1: FabricSpec::measured
};

// Bytes that a member moves over a resource of its node: HFReduce's copies over PCIe and its sums
// in host memory.
struct CollectiveDemand {
  std::int32_t member = 0;
  Resource resource = Resource::pcie_out;
  double bytes = 0;
};

struct CollectiveFlows {
  double latency_s = 0;  // before data flows: the closed form's time minus the transfer's
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  std::vector<CollectiveEdge> edges;  // all start at once: a pipelined algorithm is one fluid phase
  std::vector<CollectiveDemand> demands;
  // Edges do not wait for each other: each is a separate pipelined flow
  // (sim/engine/flow_table.hpp).
  bool independent = false;
};

// `gpus`: the members' distinct GPUs. Members of the same node are brought together, in the given
// order. `automatic` picks as collective_cost() does for this group.
CollectiveFlows collective_flows(CollectiveKind kind, CollectiveChoice choice,
                                 std::span<const std::int32_t> gpus, double bytes,
                                 const Cluster& cluster, const Calibration& calibration);
// `shape`: group_shape(gpus, cluster), to avoid computing it again.
CollectiveFlows collective_flows(CollectiveKind kind, CollectiveChoice choice,
                                 const GroupShape& shape, std::span<const std::int32_t> gpus,
                                 double bytes, const Cluster& cluster,
                                 const Calibration& calibration);

// All-to-all with individual sizes (alltoallv): member `from` sends bytes[from * n + to] to member
// `to`. The closed form takes the busiest link over all routes, in O(n^2).
CollectiveCost all_to_all_v_cost(std::span<const double> bytes, std::span<const std::int32_t> gpus,
                                 const Cluster& cluster, const Calibration& calibration);
CollectiveFlows all_to_all_v_flows(std::span<const double> bytes,
                                   std::span<const std::int32_t> gpus, const Cluster& cluster,
                                   const Calibration& calibration);
// Returns only the edges. `choice`: the algorithm that runs; `shape`: group_shape(gpus, cluster).
std::vector<CollectiveEdge> all_to_all_v_edges(std::span<const double> bytes,
                                               CollectiveChoice choice, const GroupShape& shape,
                                               std::span<const std::int32_t> gpus,
                                               const Cluster& cluster,
                                               const Calibration& calibration);

}  // namespace windtunnel
