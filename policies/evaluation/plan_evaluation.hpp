// A Plan executed without contention and in this process: what the engine (sim/engine) does on an
// idle network, for one member of every class. Streams, joins, messages and collectives follow
// models/plan/plan.hpp; messages share a NIC only with messages of the same class
// (policies/exchange/stage_message.hpp), a collective takes the closed form's time that its tasks
// carry, and a class is as slow as its slowest member, jitter of the Plan's draw included. O(n log
// n) in the tasks.
//
// That is exact where the members of a class stay in step: their collectives join them.
#pragma once

#include <span>

#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"
#include "models/plan/timeline.hpp"

namespace windtunnel {

// The Timeline records the first member of every class. The Plan must satisfy validate_plan, have
// collectives in closed form (Fidelity::closed) and no demand on shared resources. Throws
// InternalError when it deadlocks.
Timeline evaluate_plan(const Plan& plan, const Cluster& cluster);
// With other factors by which the kernels of each class are slower.
Timeline evaluate_plan(const Plan& plan, const Cluster& cluster, std::span<const double> slowdowns);

}  // namespace windtunnel
