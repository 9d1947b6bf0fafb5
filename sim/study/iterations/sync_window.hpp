// Simulates steps during an exchange between islands of replicas (Job::sync), with contention for
// shared links: from the end of the step that starts the exchange to the end of the step that
// applies its result.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/sync_level.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "sim/study/iterations/iteration_table.hpp"

namespace windtunnel {

// Returns the seconds of each level. `plain`: simulated steps without an exchange. If too many
// steps hide an exchange, only some are simulated, with their part of the exchange. Stragglers in
// those steps let islands drift apart and wait for each other.
std::vector<SyncSeconds> measure_sync(const Job& job, const PreparedIteration& prepared,
                                      const DrawnIteration& plain);

}  // namespace windtunnel
