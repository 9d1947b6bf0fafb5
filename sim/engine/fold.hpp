// Folding: ranks that cannot behave differently are simulated once. Colour refinement
// (Weisfeiler-Leman, dimension 1) finds the coarsest equitable partition of the graph of ranks,
// groups, flows and links that respects the initial differences (task list, pace of the kernels,
// capacity of a link). Max-min sharing and in-order execution treat equals equally, so one
// representative of each colour behaves as every member does, provided each shared link keeps the
// load of the flows that are not simulated: one that stands for k flows weighs k there.
//
// Contention carries a difference along, but not around a ring, which is one pipelined flow
// (flow_table.hpp): a slow node unfolds its own pipeline, not its neighbours on the ring.
#pragma once

#include <vector>

#include "models/machine/cluster.hpp"
#include "models/plan/job.hpp"
#include "models/plan/plan.hpp"
#include "sim/engine/flow_table.hpp"

namespace windtunnel {

struct FoldedRank {
  RankId rank = 0;              // the representative: the lowest of its colour
  std::int32_t rank_class = 0;  // of the Plan: its task list
  std::int32_t member = 0;      // its position in that class
  std::int64_t multiplicity = 1;
};

// Its routes: of the folded flows on folded links; the weight is what all flows of that colour lay
// on one link.
struct Folding : FlowRoutes {
  std::vector<FoldedRank> ranks;             // ascending by rank
  std::vector<std::int32_t> representative;  // [rank of the Plan] -> index into ranks
  std::vector<std::int32_t> groups;          // folded groups: the representative in Plan::groups
  std::vector<std::int32_t> group_of;        // [group of the Plan] -> index into groups
  std::vector<FlowIndex> flow_of;            // [flow of the table] -> folded flow
  // The number of unlike ranks that these are a sample of (sampled_fold.hpp); 0: none is left out.
  std::int64_t sampled_of = 0;
};

// FoldMode::automatic samples where more ranks than `unlike_ranks` differ by the ways that routing
// chose for them; where the paces of kernels (jitter, slow nodes) leave more tasks than
// `unlike_tasks` to simulate, it replays the timeline without them (timeline_replay.hpp).
struct FoldLimits {
  std::int64_t unlike_ranks = 1024;
  std::int64_t sampled_ranks = 256;
  double unlike_tasks = 1 << 16;
};

Folding fold(const Plan& plan, const Cluster& cluster, const FlowTable& flows, FoldMode mode,
             const FoldLimits& limits = {});

// As FoldMode::exact, but flows of other replicas are not there: of a message on a link what ranks
// in step with each other lay on it, of a collective inside a replica what its group does.
Folding fold_of_one_replica(const Plan& plan, const Cluster& cluster, const FlowTable& flows);

// Its members are in different replicas.
bool of_replicas(const Group& group);

}  // namespace windtunnel
