// What one unit of a schedule costs: a micro-batch, or a slice of its sequence.
#pragma once

#include <vector>

#include "models/chunk_cost.hpp"
#include "models/job.hpp"
#include "models/schedule.hpp"

namespace windtunnel {

// [stage of the model * slices + slice]. Stages that the schedule never recomputes, though it
// recomputes others, keep all activations. `chunks` is chunk_costs(job).
std::vector<ChunkCost> unit_costs(const Job& job, const Schedule& schedule,
                                  const std::vector<ChunkCost>& chunks);

}  // namespace windtunnel
