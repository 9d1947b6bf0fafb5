// Executes a Plan without contention and without the engine (sim/engine), for one rank of every
// class. The result is that of the engine on an idle network. Streams, joins, messages and
// collectives follow models/plan/plan.hpp. A message shares a NIC only with messages of the same
// class (policies/exchange/stage_message.hpp). A collective takes the closed-form time of its
// tasks. A class is as slow as its slowest rank, including the jitter that the Plan draws. O(n log
// n) in the number of tasks.
//
// The times are exact if collectives keep the ranks of a class in step.
#pragma once

#include <span>

#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"
#include "models/plan/timeline.hpp"

namespace windtunnel {

// The Timeline records the first rank of every class. The Plan must pass validate_plan, have
// closed-form collectives (Fidelity::closed) and no demands on shared resources. Throws
// InternalError if it deadlocks.
Timeline evaluate_plan(const Plan& plan, const Cluster& cluster);
// This overload takes other slowdown factors: one for the kernels of each class.
Timeline evaluate_plan(const Plan& plan, const Cluster& cluster, std::span<const double> slowdowns);

}  // namespace windtunnel
