// Islands of replicas (sync), and what a step does about stragglers (redundancy).
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr Conflict kIslandRows[] = {
    {kIslands, kLengths, ": with batch.lengths is not modelled", "leave one of them out"},
    {kWideIslands, kCrossing,
     ": does not go with communication.overlap: dear or priority, whose gradients arrive in the "
     "next step, within islands of several replicas",
     "take communication.overlap: bucketed or none"},
    {kIslands, kTaskJitter, ": needs factors of whole steps",
     "take cluster.jitter.per: step or run"},
    {kIslands, kServed, ": does not go with communication.aggregation: parameter-server", ""},
    {kIslands, kStepsApart,
     ": goes with schedules that end each step together, which this one does not", ""},
};

constexpr Conflict kRedundancyRows[] = {
    {kRedundancy, kIslands, ": islands (sync) wait for each other by sync.*.wait_for",
     "leave redundancy or sync out"},
    {kRedundancy, kExpertRanks,
     ": replicas that share experts (layout.ep) wait for each other in passes", ""},
    {kRedundancy, kZero3,
     ": with layout.sharding: zero3 replicas gather weights from each other in every pass",
     "take layout.sharding: zero2 or less"},
    {kRedundancy, kLengths, ": with batch.lengths is not modelled", "leave one of them out"},
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
