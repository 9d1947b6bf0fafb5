// Executes a Plan without contention and without the engine (sim/engine), with the same result as
// the engine on an idle network, for one member of every class. Streams, joins, messages and
// collectives follow models/plan/plan.hpp; messages share a NIC only with messages of the same
// class (policies/exchange/stage_message.hpp); a collective takes its tasks' closed-form time; and
// a class is as slow as its slowest member, including jitter of the Plan's draw. O(n log n) in the
// number of tasks.
//
// It is exact if collectives keep the members of a class in step.
#pragma once

#include <span>

#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"
#include "models/plan/timeline.hpp"

namespace windtunnel {

// The Timeline records the first member of every class. The Plan must pass validate_plan, have
// closed-form collectives (Fidelity::closed) and no demands on shared resources. Throws
// InternalError if it deadlocks.
Timeline evaluate_plan(const Plan& plan, const Cluster& cluster);
// Uses other slowdown factors for the kernels of each class.
Timeline evaluate_plan(const Plan& plan, const Cluster& cluster, std::span<const double> slowdowns);

}  // namespace windtunnel
