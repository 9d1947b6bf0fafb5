// Conflicts of islands of replicas (sync), and of what a step does about stragglers (redundancy).
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr Conflict kIslandRows[] = {
    {kSlowNodes, kDriftingIslands,
     ": with cluster.jitter, slow nodes in islands are modelled only where all islands wait for "
     "each other: exchanges on schedule, with wait_for: all",
     "leave out cluster.jitter or cluster.slow_nodes"},
    {kIslands, kLengthGroups,
     ": groups of different degrees (layout.length_policy) would contain ranks of several islands, "
     "but islands communicate only at exchanges",
     "take layout.length_policy: fixed"},
    {kWideIslands, kCrossing,
     ": islands of several replicas do not go with communication.overlap: dear or priority, "
     "because their gradients arrive only in the next step",
     "take communication.overlap: bucketed or none"},
    {kPaths, kLayerTable,
     ": paths share modules of identical layers, but model '{model}' is a table of layers",
     "leave sync.*.paths out"},
    {kIslands, kTaskJitter, ": needs slowdown factors of whole steps",
     "take cluster.jitter.per: step or run"},
    {kIslands, kStepsApart,
     ": needs a schedule in which all ranks end a step together; with this one they do not", ""},
};

constexpr Conflict kRedundancyRows[] = {
    {kRedundancy, kLoneReplica,
     ": there is only one replica (layout.dp; in each island), so no other can do its work",
     "leave it out"},
    {kRedundancy, kOneWorker,
     ": replicas that share weights (layout.sharding: zero3) or experts (layout.ep) wait for each "
     "other within passes; here that is every replica",
     "set layout.shard_ranks or a smaller layout.ep, so that they form several groups"},
    {kRedundancy, kLengths,
     ": codes and copies need parts of equal size, but packs (batch.lengths) differ in size",
     "leave one of them out"},
    {kRedundancy, kUnevenBatch,
     ": codes and copies need parts of equal size, but batch.shares gives replicas parts of "
     "different size",
     "take batch.shares: even"},
    {kRedundancy, kTaskFactors, ": needs slowdown factors of whole steps",
     "take cluster.jitter.per: step"},
    {kRedundancy, kCrossing,
     ": does not go with communication.overlap: dear or priority, because their gradients arrive "
     "only in the next step",
     "take communication.overlap: bucketed or none"},
    {kRedundancy, kStepsApart,
     ": needs a schedule in which all ranks end a step together; with this one they do not", ""},
};

}  // namespace
}  // namespace features

std::span<const Conflict> island_conflicts() {
  return features::kIslandRows;
}

std::span<const Conflict> redundancy_conflicts() {
  return features::kRedundancyRows;
}

}  // namespace windtunnel
