// Folding for hashed or planned routing. A pipeline is a set of ranks that messages, or groups
// other than those of replicas, connect. With such routing nearly every pipeline has different
// neighbours on links between pods, so nothing folds exactly. Among pipelines that differ only by
// these paths, some are simulated: the slowest, which determine when replicas synchronise, and
// others spread evenly over the rest. Each group of replicas is one rendezvous. On its slowest link
// a simulated flow meets as many flows of its kind as in reality, though not the same ones; other
// kinds take their average bandwidth (way_loads.hpp).
// Error compared with simulating all ranks: docs/physics/network.md.
#pragma once

#include <cstdint>

#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"
#include "sim/engine/fold.hpp"

namespace windtunnel {

// Folds with as many pipelines of each kind as `ranks` ranks allow, at least one. `duration_s`:
// estimated duration of the plan.
Folding sampled_fold(const Plan& plan, const Cluster& cluster, const FlowTable& flows,
                     std::int64_t ranks, double duration_s = 0);

}  // namespace windtunnel
