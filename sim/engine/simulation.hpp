// Runs a Program on SimGrid: an actor per (rank, stream), messages and demands as transfers over
// the custom zone of platform.hpp. The process that calls it cannot simulate again.
#pragma once

#include "models/timeline.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/fold.hpp"
#include "sim/engine/program.hpp"

namespace windtunnel {

// Throws InternalError that names rank, class, stream and task when the Plan deadlocks.
Timeline simulate_program(const Plan& plan, const Cluster& cluster, const FlowTable& flows,
                          const Folding& folding, const Program& program,
                          const EngineOptions& options);

}  // namespace windtunnel
