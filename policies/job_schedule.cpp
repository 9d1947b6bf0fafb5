#include "policies/job_schedule.hpp"

#include "policies/boundary.hpp"
#include "policies/schedules.hpp"

namespace windtunnel {

Schedule job_schedule(const Job& job, const std::vector<ChunkCost>& chunks) {
  const ScheduleChoice& choice = job.schedule;
  ScheduleRequest request;
  request.ranks = job.layout.pp;
  request.microbatches = microbatches(job.layout, job.batch);
  request.chunks = job.layout.vpp;
  request.group = choice.group;
  request.slices = choice.slices;
  request.costs = stage_costs(chunks);
  if (job.layout.pp > 1) request.message_s = boundary_s(job, 0, chunks.front().boundary_bytes);
  request.memory_limit = choice.memory_limit;
  Schedule schedule = generate_schedule(choice.name, request);
  return choice.defer_weights ? with_deferred_weights(std::move(schedule)) : schedule;
}

}  // namespace windtunnel
