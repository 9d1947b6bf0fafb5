// What each algorithm of each collective does: who sends to whom inside a node and between nodes,
// how many bytes, and how many sequential steps. The closed form (collective.cpp) derives a time
// from these steps, and collective_edges.hpp derives the transfers.
//
// Sources: Thakur et al. 2005 (doubling, halving); MPICH (if the group is no power of two, the
// first nodes pair up and one of each pair sits out); Sanders et al. 2009 (double trees); NCCL: PXN
// (data moves to the receiver's rail inside the node), NVLS, CollNet and PAT.
#pragma once

#include <string>
#include <vector>

#include "models/machine/cluster.hpp"
#include "models/network/groups/collective_choice.hpp"
#include "models/network/groups/group_shape.hpp"
#include "models/network/groups/pattern.hpp"

namespace windtunnel {

struct CollectiveSteps {
  Pattern node = Pattern::none;
  // Bytes of the pattern; each edge carries a share of them (pattern.hpp).
  double node_bytes = 0;
  int node_steps = 0;
  Pattern across = Pattern::none;
  double across_bytes = 0;  // bytes of one lane: the i-th members of all nodes
  int across_steps = 0;
  bool one_lane = false;    // only the first member of each node communicates across nodes
  bool pipelined = true;    // work inside nodes overlaps work between nodes
  double copied_bytes = 0;  // per member to the host, and the same back
  double host_bytes = 0;    // per node, through its host's memory
};

// `bytes` is the size S of collective_cost(). The algorithm must apply: why_not() returns nullptr.
CollectiveSteps steps_of(CollectiveKind kind, CollectiveAlgorithm algorithm,
                         const GroupShape& shape, double bytes);

// The pattern inside the node at position `node` of the group, if CollectiveSteps::node is
// `pattern`. The data of a chain enters (or leaves) every node but the first over all lanes and
// goes round from there; in the first node it starts (or ends) at one member.
Pattern inside_node(Pattern pattern, int node);

// Returns why the algorithm does not apply to the group or its nodes, "needs as many members on
// every node; ...", or nullptr if it applies.
const char* why_not(CollectiveKind kind, CollectiveAlgorithm algorithm, const GroupShape& shape,
                    const Cluster& cluster);

// All algorithms of a kind. The first replaces one that does not apply.
std::vector<CollectiveAlgorithm> algorithms_of(CollectiveKind kind);
CollectiveAlgorithm usual_algorithm(CollectiveKind kind);

// Throws Error unless the algorithm applies. The text says what is missing and what applies.
void require_algorithm(CollectiveKind kind, CollectiveAlgorithm algorithm, const GroupShape& shape,
                       const Cluster& cluster);

}  // namespace windtunnel
