// The schedule of a job.
#pragma once

#include <vector>

#include "models/chunk_cost.hpp"
#include "models/job.hpp"
#include "models/schedule.hpp"

namespace windtunnel {

// For the job's pipeline, micro-batches and choice; planned with the times of `chunks` where the
// schedule plans with times. Throws Error as generate_schedule does.
Schedule job_schedule(const Job& job, const std::vector<ChunkCost>& chunks);

}  // namespace windtunnel
