// Whether a job fits in the memory of its GPUs, in that of its hosts and on their drives, with
// snapshots and offloaded data.
#pragma once

#include <string>

#include "models/plan/job.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

// Returns which memory (GPUs, hosts or drives) is exceeded, and by how much; empty: none is.
std::string memory_excess(const Job& job, const PreparedIteration& prepared);

}  // namespace windtunnel
