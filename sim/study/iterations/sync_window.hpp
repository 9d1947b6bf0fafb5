// Steps beside an exchange between islands of replicas (Job::sync), simulated: from the end of the
// step that starts it to the end of the one that takes its result in, with what both ask of the
// links that they share.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/sync_level.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "sim/study/iterations/iteration_table.hpp"

namespace windtunnel {

// [level] `plain`: simulated steps without an exchange. Of an exchange that so many steps hide
// that they would take long to simulate, as many of them as are simulated get their part of it.
// Stragglers that drew those steps out let islands drift apart, and wait for each other.
std::vector<SyncSeconds> measure_sync(const Job& job, const PreparedIteration& prepared,
                                      const DrawnIteration& plain);

}  // namespace windtunnel
