// Whether a job fits: in the memory of its GPUs, and in that of its hosts and on their drives,
// where snapshots and what is offloaded lie.
#pragma once

#include <string>

#include "models/plan/job.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

// Which memory, of GPUs, hosts or drives, the job does not fit in, and by how much; empty: it fits.
std::string memory_excess(const Job& job, const PreparedIteration& prepared);

}  // namespace windtunnel
