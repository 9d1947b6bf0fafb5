// Makes the schedule of a job: the generator that its scenario names
// (policies/schedules/schedules.hpp), or the file that it read, with the job's stage costs and
// memory.
#pragma once

#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"

namespace windtunnel {

// Bytes that the fullest GPU has left for activations; <= 0: none. Stages are assumed in a loop.
double activation_room_bytes(const Job& job, const std::vector<ChunkCost>& chunks);

// The schedule for the job's pipeline, micro-batches and choice; generators that plan with times
// use those of `chunks`. Throws Error as generate_schedule does, for more slices than tokens, and
// if recomputation is to be placed or shared (ScheduleChoice::recompute_share) but there is none.
Schedule job_schedule(const Job& job, const std::vector<ChunkCost>& chunks);

}  // namespace windtunnel
