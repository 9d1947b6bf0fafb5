// Makes the schedule of a job: the generator that its scenario names
// (policies/schedules/schedules.hpp), or the file that it read, with the job's stage costs and
// memory.
#pragma once

#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"

namespace windtunnel {

// What the fullest GPU has left for activations, bytes; at most 0: nothing. Stages in a loop.
double activation_room_bytes(const Job& job, const std::vector<ChunkCost>& chunks);

// For the job's pipeline, micro-batches and choice; planned with the times of `chunks` where the
// schedule plans with times. Throws Error as generate_schedule does, for more slices than tokens,
// and for a recomputation to place or to share (ScheduleChoice::recompute_share) where there is
// none.
Schedule job_schedule(const Job& job, const std::vector<ChunkCost>& chunks);

}  // namespace windtunnel
