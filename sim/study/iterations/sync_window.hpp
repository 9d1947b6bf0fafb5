// Simulates steps during an exchange between islands of replicas (Job::sync): from the end of the
// step that starts it to the end of the step that applies its result, with contention for shared
// links.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/sync_level.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "sim/study/iterations/iteration_table.hpp"

namespace windtunnel {

// [level] `plain`: simulated steps without an exchange. If an exchange is hidden by too many steps
// to simulate, only some are simulated, with their part of the exchange. Stragglers in those steps
// let islands drift apart and wait for each other.
std::vector<SyncSeconds> measure_sync(const Job& job, const PreparedIteration& prepared,
                                      const DrawnIteration& plain);

}  // namespace windtunnel
