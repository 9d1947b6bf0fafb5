// From a Job to the Plan of an iteration: the schedule lowered to tasks with sends and receives,
// gradient buckets under the backward pass, the optimizer, the snapshots that are due.
#pragma once

#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "models/plan/plan.hpp"
#include "models/plan/schedule.hpp"

namespace windtunnel {

struct PreparedIteration;

struct IterationPlanOptions {
  int iterations = 1;  // of the schedule, each with a flush at its end
  // Indices into job.snapshots that are taken in the first iteration; of a schedule of several
  // iterations without a flush in the last of steady_window().
  std::vector<int> due_snapshots = {};
};

// Of any job. `prepared`: prepare_iteration() of it, or of one with other replicas.
Plan iteration_plan(const Job& job, const PreparedIteration& prepared,
                    const IterationPlanOptions& options);
// Of a job whose micro-batches are all alike.
// `chunks`: chunk_costs(job), as prepare_iteration() has them. The Plan spans all iterations of the
// schedule. Without a flush between them ranks do not wait for a common gradient norm: each steps
// its optimizer where its own gradients are reduced.
Plan iteration_plan(const Job& job, const Schedule& schedule, const std::vector<ChunkCost>& chunks,
                    const IterationPlanOptions& options = {});
// `units`: unit_costs() of the three before.
Plan iteration_plan(const Job& job, const Schedule& schedule, const std::vector<ChunkCost>& chunks,
                    const std::vector<ChunkCost>& units, const IterationPlanOptions& options);

}  // namespace windtunnel
