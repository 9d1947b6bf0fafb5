// Makes the schedule of a job: the generator that its scenario names
// (policies/schedules/schedules.hpp), or the file that it read, with the job's stage costs and
// memory.
#pragma once

#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"

namespace windtunnel {

// Returns the bytes that the fullest GPU has for activations; <= 0: none. Stages are in a loop.
double activation_room_bytes(const Job& job, const std::vector<ChunkCost>& chunks);

// Returns the schedule for the job's pipeline, micro-batches and choice. Generators that plan with
// times get those of `chunks`. Throws Error as generate_schedule does, for more slices than tokens,
// and if recomputation is to be placed or shared (ScheduleChoice::recompute_share) without any.
Schedule job_schedule(const Job& job, const std::vector<ChunkCost>& chunks);

}  // namespace windtunnel
