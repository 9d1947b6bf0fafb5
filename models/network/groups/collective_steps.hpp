// What each algorithm of each collective does, once: who sends to whom inside a node and between
// nodes, how many bytes, how many steps in sequence. The closed form (collective.cpp) makes a time
// of it, collective_edges.hpp the transfers.
//
// Thakur et al. 2005 (doubling, halving, groups that are no power of two: as MPICH, the first
// nodes pair up and one of each pair sits out); Sanders et al. 2009 (double trees); NCCL's PXN (a
// byte changes to the receiver's rail inside the node), NVLS, CollNet and PAT.
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
  // Bytes of the pattern: an edge of it carries its share of them (pattern.hpp).
  double node_bytes = 0;
  int node_steps = 0;
  Pattern across = Pattern::none;
  double across_bytes = 0;  // the same, of one lane: the i-th members of all nodes
  int across_steps = 0;
  bool one_lane = false;    // only the nodes' first members talk across
  bool pipelined = true;    // what happens inside a node overlaps what happens between nodes
  double copied_bytes = 0;  // per member to the host, and as many back
  double host_bytes = 0;    // of a node, through its host's memory
};

// `bytes` is the size S of collective_cost. The pair must apply: why_not() says nullptr.
CollectiveSteps steps_of(CollectiveKind kind, CollectiveAlgorithm algorithm,
                         const GroupShape& shape, double bytes);

// CollectiveSteps::node in the node of this place in the group. The bytes of a chain enter (or
// leave) every node but the first by all of its lanes and go round from there; in the first they
// start (or end) at one member.
Pattern inside_node(Pattern pattern, int node);

// What the pair needs and the group or its nodes have not: "needs as many members on every node;
// ..." nullptr: it applies.
const char* why_not(CollectiveKind kind, CollectiveAlgorithm algorithm, const GroupShape& shape,
                    const Cluster& cluster);

// The algorithms of a kind, whatever the group; the first runs where another does not apply.
std::vector<CollectiveAlgorithm> algorithms_of(CollectiveKind kind);
CollectiveAlgorithm usual_algorithm(CollectiveKind kind);

// Throws Error unless the algorithm applies: says what is missing and which ones do.
void require_algorithm(CollectiveKind kind, CollectiveAlgorithm algorithm, const GroupShape& shape,
                       const Cluster& cluster);

}  // namespace windtunnel
