// Collectives: one description, two forms. The closed form is a time on an idle network; the flows
// are one fluid transfer per edge, which compete with everything else for links. Both use the same
// byte counts per edge and the same latency, so they agree on an idle network.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/base/origin.hpp"
#include "models/calibration.hpp"
#include "models/links.hpp"

namespace windtunnel {

enum class CollectiveKind : std::uint8_t { all_reduce, reduce_scatter, all_gather, broadcast,
                                           all_to_all };
enum class CollectiveAlgorithm : std::uint8_t { automatic, ring, tree, hierarchical };

// A transfer from members[source] to members[destination].
struct CollectiveEdge {
  std::int32_t source = 0;
  std::int32_t destination = 0;
  double bytes = 0;
};

struct CollectiveFlows {
  double latency_s = 0;               // launch and hops, before the bytes flow
  std::vector<CollectiveEdge> edges;  // all at once: a pipelined algorithm is one fluid phase
};

// `bytes` is the size of the full buffer (the nccl-tests size column): what all_reduce reduces, what
// all_gather leaves on every rank, what reduce_scatter starts from. `gpus` = the members' GPUs.
CollectiveFlows collective_flows(CollectiveKind kind, CollectiveAlgorithm algorithm,
                                 std::span<const std::int32_t> gpus, double bytes,
                                 const Cluster& cluster, const Calibration& calibration);

struct CollectiveCost {
  double seconds = 0;
  Origin origin = Origin::assumed;
};

// Closed form: latency + the busiest link's bytes / its bandwidth, in O(1) for groups with a regular
// stride (the usual tp, cp, dp groups), without listing edges. Budget: 200 ns.
//   ring all-reduce: 2 (n-1) a + 2 (n-1)/n S / B   (Thakur et al. 2005; NCCL src/graph/tuning.cc)
//   tree: 2 ceil(log2 n) a + 2 S / B
//   hierarchical: reduce-scatter in the node, ring across nodes on every rail, all-gather
struct GroupShape {
  int members = 1;
  int members_per_node = 1;   // of the group, in each node it touches
  int nodes = 1;
  int pods = 1;
  int concurrent_per_nic = 1; // groups that share the member's NIC at the same time
};
GroupShape group_shape(std::span<const std::int32_t> gpus, const Cluster& cluster);
CollectiveCost collective_cost(CollectiveKind kind, CollectiveAlgorithm algorithm,
                               const GroupShape& shape, double bytes, const Cluster& cluster,
                               const Calibration& calibration);

}  // namespace windtunnel
