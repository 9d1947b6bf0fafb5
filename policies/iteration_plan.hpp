// From a Job to the Plan of an iteration: the schedule lowered to tasks with sends and receives,
// gradient buckets under the backward pass, the optimizer, the snapshots that are due.
#pragma once

#include <vector>

#include "models/chunk_cost.hpp"
#include "models/job.hpp"
#include "models/plan.hpp"
#include "models/schedule.hpp"

namespace windtunnel {

struct IterationPlanOptions {
  int iterations = 1;
  // Indices into job.snapshots that are taken in the first iteration.
  std::vector<int> due_snapshots = {};
};

Plan iteration_plan(const Job& job, const Schedule& schedule, const std::vector<ChunkCost>& chunks,
                    const IterationPlanOptions& options = {});

}  // namespace windtunnel
