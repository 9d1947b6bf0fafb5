// Folding: ranks that cannot behave differently are simulated once.
//
// Ranks, groups, flows and links form a graph; colour refinement (Weisfeiler-Leman, dimension 1)
// finds its coarsest equitable partition that respects the initial differences (task list, speed of
// the node, capacity of a link). Max-min sharing and in-order execution treat equals equally, so one
// representative per colour behaves as every member does, provided each shared link keeps the load of
// the flows that are not simulated: a flow that stands for k flows on that link weighs k there.
#pragma once

#include <vector>

#include "models/cluster.hpp"
#include "models/job.hpp"
#include "models/plan.hpp"

namespace windtunnel {

// A flow of the folded run on a link: how many flows of its colour share that link.
struct WeightedLink {
  LinkId link = 0;
  int weight = 1;
};

struct FoldedRank {
  RankId rank = 0;               // the representative
  std::int32_t rank_class = 0;   // of the Plan: its task list
  std::int64_t multiplicity = 1;
};

struct Folding {
  std::vector<FoldedRank> ranks;
  std::vector<std::int32_t> representative;   // [rank of the Plan] -> index into ranks
};

Folding fold(const Plan& plan, const Cluster& cluster, FoldMode mode);

}  // namespace windtunnel
