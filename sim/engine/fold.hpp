// Folding: ranks that must behave identically are simulated once. Colour refinement
// (Weisfeiler-Leman, dimension 1) finds the coarsest equitable partition of the graph of ranks,
// groups, flows and links that respects initial differences (task list, pace of kernels, capacity
// of a link). Max-min sharing and in-order execution treat equals equally, so one representative of
// each colour behaves like every member, provided that each shared link keeps the load of the flows
// that are not simulated: a flow that represents k flows has weight k there.
//
// Contention propagates differences, but not around a ring, which is one pipelined flow
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

// Routes are those of folded flows on folded links; a weight is the total load of all flows of a
// colour on one link.
struct Folding : FlowRoutes {
  std::vector<FoldedRank> ranks;             // ascending by rank
  std::vector<std::int32_t> representative;  // [rank of the Plan] -> index into ranks
  std::vector<std::int32_t> groups;          // folded groups: the representative in Plan::groups
  std::vector<std::int32_t> group_of;        // [group of the Plan] -> index into groups
  std::vector<FlowIndex> flow_of;            // [flow of the table] -> folded flow
  // number of different ranks of which these are a sample (sampled_fold.hpp); 0: complete
  std::int64_t sampled_of = 0;
};

// FoldMode::automatic samples if more than `unlike_ranks` ranks differ by the paths that routing
// chose; and if different paces of kernels (jitter, slow nodes) give more than `unlike_tasks` tasks
// to simulate, and more than a replay, it replays the timeline without these paces
// (timeline_replay.hpp).
struct FoldLimits {
  std::int64_t unlike_ranks = 1024;
  std::int64_t sampled_ranks = 256;
  double unlike_tasks = 1 << 16;
  double replayed_classes = 2;  // a replay simulates the tasks of each rank class so often
};

Folding fold(const Plan& plan, const Cluster& cluster, const FlowTable& flows, FoldMode mode,
             const FoldLimits& limits = {});

// As FoldMode::exact, but without the flows of other replicas: a link carries only a message's load
// from ranks in step with each other, or an inner collective's load from its own group.
Folding fold_of_one_replica(const Plan& plan, const Cluster& cluster, const FlowTable& flows);

// Whether its members are in different replicas.
bool of_replicas(const Group& group);

}  // namespace windtunnel
