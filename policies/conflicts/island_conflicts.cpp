// Islands of replicas (sync), and what a step does about stragglers (redundancy).
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr Conflict kIslandRows[] = {
    {kSlowNodes, kDriftingIslands,
     ": with cluster.jitter islands of unlike speed are modelled where all wait for each other: at "
     "exchanges on schedule, with wait_for: all",
     "leave one of them out"},
    {kIslands, kLengthGroups,
     ": groups of different degrees (layout.length_policy) would be of ranks of several islands, "
     "which meet at exchanges only",
     "take layout.length_policy: fixed"},
    {kWideIslands, kCrossing,
     ": does not go with communication.overlap: dear or priority, whose gradients arrive in the "
     "next step, within islands of several replicas",
     "take communication.overlap: bucketed or none"},
    {kPaths, kLayerTable,
     ": paths share modules of layers that are alike, and model '{model}' is a table of layers",
     "leave sync.*.paths out"},
    {kIslands, kTaskJitter, ": needs factors of whole steps",
     "take cluster.jitter.per: step or run"},
    {kIslands, kStepsApart,
     ": goes with schedules that end each step together, which this one does not", ""},
};

constexpr Conflict kRedundancyRows[] = {
    {kRedundancy, kLoneReplica,
     ": there is only one replica (layout.dp, of each island), and no other can take its place",
     "leave it out"},
    {kRedundancy, kOneWorker,
     ": replicas that share weights (layout.sharding: zero3) or experts (layout.ep) wait for each "
     "other in passes, and here all of them do",
     "take layout.shard_ranks or a smaller layout.ep, by which they form several groups"},
    {kRedundancy, kLengths,
     ": codes and copies are of parts of one size, and packs (batch.lengths) are of many",
     "leave one of them out"},
    {kRedundancy, kUnevenBatch,
     ": codes and copies are of parts of one size, and batch.shares gives replicas unlike ones",
     "take batch.shares: even"},
    {kRedundancy, kTaskFactors, ": needs factors of whole steps", "take cluster.jitter.per: step"},
    {kRedundancy, kCrossing,
     ": does not go with communication.overlap: dear or priority, whose gradients arrive in the "
     "next step",
     "take communication.overlap: bucketed or none"},
    {kRedundancy, kStepsApart,
     ": goes with schedules that end each step together, which this one does not", ""},
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
