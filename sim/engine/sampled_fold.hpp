// Folding where ways that a hash or a plan chose give nearly every pipeline (ranks that messages,
// or groups other than of replicas, join) other neighbours on the links between pods, so that
// nothing folds exactly. Of the pipelines that differ by these ways alone some are simulated: the
// slowest, which decide when replicas meet, and others spread evenly over the rest; groups of
// replicas meet as one. On its slowest way a simulated flow meets as many of its kind as in truth,
// though not the same ones; other kinds take what they need on average (way_loads.hpp).
//
// Error against all ranks simulated: docs/physics/network.md.
#pragma once

#include <cstdint>

#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"
#include "sim/engine/fold.hpp"

namespace windtunnel {

// A fold with as many pipelines of each kind as `ranks` ranks allow, at least one. `duration_s`:
// how long the plan takes, as far as it is known.
Folding sampled_fold(const Plan& plan, const Cluster& cluster, const FlowTable& flows,
                     std::int64_t ranks, double duration_s = 0);

}  // namespace windtunnel
