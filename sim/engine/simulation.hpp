// Runs a Program on SimGrid: one actor per (rank, stream), with messages and demands as transfers
// over the custom zone of platform.hpp. The calling process cannot run another simulation.
#pragma once

#include <vector>

#include "models/machine/cluster.hpp"
#include "models/plan/timeline.hpp"
#include "sim/engine/fold.hpp"
#include "sim/engine/rank_program.hpp"

namespace windtunnel {

// `recorded_by`: see recorder.hpp. Throws InternalError that names rank, class, stream and task if
// the Plan deadlocks.
Timeline simulate_program(const Plan& plan, const Cluster& cluster, const FlowTable& flows,
                          const Folding& folding, const Program& program,
                          std::vector<RankId> recorded_by);

}  // namespace windtunnel
