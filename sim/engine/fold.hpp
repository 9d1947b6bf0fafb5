// Folding: ranks that must behave identically are simulated once. Colour refinement
// (Weisfeiler-Leman, dimension 1) finds the coarsest equitable partition of the graph of ranks,
// groups, flows and links that respects initial differences (task list, pace of kernels, capacity
// of a link). Max-min sharing and in-order execution treat equals equally. So one representative of
// each colour behaves like every member, provided that each shared link keeps the load of the flows
// that are not simulated: a flow that represents k flows has weight k there.
// Contention propagates differences between ranks, but not around a ring, because a ring is one
// pipelined flow (flow_table.hpp). A slow node unfolds its own pipeline, not its neighbours on the
// ring.
#pragma once

#include <vector>

#include "models/machine/cluster.hpp"
#include "models/plan/job.hpp"
#include "models/plan/plan.hpp"
#include "sim/engine/flow_table.hpp"

namespace windtunnel {

struct FoldedRank {
  RankId rank = 0;              // the representative, which is the lowest of its colour
  std::int32_t rank_class = 0;  // class in the Plan, which has its task list
  std::int32_t member = 0;      // its position in that class
  std::int64_t multiplicity = 1;
};

// Routes of folded flows on folded links. A weight is the total load that all flows of a colour put
// on one link.
struct Folding : FlowRoutes {
  std::vector<FoldedRank> ranks;             // ascending by rank
  std::vector<std::int32_t> representative;  // [rank of the Plan] -> index into ranks
  std::vector<std::int32_t> groups;          // [folded group] its representative in Plan::groups
  std::vector<std::int32_t> group_of;        // [group of the Plan] -> index into groups
  std::vector<FlowIndex> flow_of;            // [flow of the table] -> folded flow
  // number of different ranks of which these are a sample (sampled_fold.hpp); 0: no sample
  std::int64_t sampled_of = 0;
};

// FoldMode::automatic does two things. It samples if more than `unlike_ranks` ranks differ by the
// paths that routing chose. If different paces of kernels (jitter, slow nodes) give more than
// `unlike_tasks` tasks to simulate, and more than a replay simulates, it replays the timeline
// without these paces (timeline_replay.hpp).
struct FoldLimits {
  std::int64_t unlike_ranks = 1024;
  std::int64_t sampled_ranks = 256;
  double unlike_tasks = 1 << 16;
  double replayed_classes = 2;  // how often a replay simulates the tasks of each rank class
};

Folding fold(const Plan& plan, const Cluster& cluster, const FlowTable& flows, FoldMode mode,
             const FoldLimits& limits = {});

// As FoldMode::exact, but without the flows of other replicas. A link carries the load of a message
// only of ranks in step with each other, that of a collective inside a replica only of one group.
Folding fold_of_one_replica(const Plan& plan, const Cluster& cluster, const FlowTable& flows);

// Whether the group's members are in different replicas.
bool of_replicas(const Group& group);

}  // namespace windtunnel
