// From a Job to the Plan of its iteration: the schedule lowered to tasks with sends and receives,
// gradient buckets under the backward pass, the optimizer, the snapshots that are due. Units of the
// schedule are micro-batches that are all alike, or packs of unequal sequences with costs of their
// own.
#pragma once

#include <optional>
#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/plan.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

// One exchange of a fragment between islands (Job::sync), from the end of the first iteration on;
// the last one's end waits for it.
struct OuterWindow {
  int level = 0;
  // share of the exchange, if the Plan has only a part of the iterations that hide it
  double share = 1;
};

struct IterationPlanOptions {
  int iterations = 1;  // iterations of the schedule, each with a flush at its end
  // Indices into job.snapshots that are taken in the first iteration; of a schedule of several
  // iterations without a flush in the last of steady_window().
  std::vector<int> due_snapshots = {};
  int draw = 0;  // of the machine's jitter
  std::optional<OuterWindow> outer = {};
  // Samples are loaded in the time that this takes with nothing beside it: for closed forms.
  bool input_alone = false;
};

// Reads schedule, chunks and units of `prepared`. The Plan spans all iterations of the schedule.
// Without a flush between them ranks do not wait for a common gradient norm: each steps its
// optimizer where its own gradients are reduced.
Plan plan_iteration(const Job& job, const PreparedIteration& prepared,
                    const IterationPlanOptions& options);

}  // namespace windtunnel
