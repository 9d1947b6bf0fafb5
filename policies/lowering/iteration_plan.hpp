// Lowers a Job to the Plan of its iteration: the schedule as tasks with sends and receives,
// gradient buckets that overlap the backward pass, the optimizer, and due snapshots. Units of the
// schedule are equal micro-batches, or packs of unequal sequences with individual costs.
#pragma once

#include <optional>
#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/plan.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

// One exchange of a fragment between islands (Job::sync). It starts at the end of the first
// iteration, and the end of the last iteration waits for it.
struct OuterWindow {
  int level = 0;
  // the part of the exchange that the Plan has, if it has only some of the iterations that hide it
  double share = 1;
};

struct IterationPlanOptions {
  int iterations = 1;  // repetitions of the schedule, each with a flush at its end
  // Indices of the job.snapshots that are taken in the first iteration. If the schedule has several
  // iterations without a flush, they are taken in the last one of steady_window().
  std::vector<int> due_snapshots = {};
  int draw = 0;  // which draw of the machine's jitter it is
  std::optional<OuterWindow> outer = {};
  // Loading of samples takes as long as when nothing else runs; closed forms need this.
  bool input_alone = false;
};

// Uses schedule, chunks and units of `prepared`. The Plan has all iterations of the schedule.
// Without a flush between them ranks do not wait for a common gradient norm: each runs its
// optimizer when its own gradients are reduced.
Plan plan_iteration(const Job& job, const PreparedIteration& prepared,
                    const IterationPlanOptions& options);

}  // namespace windtunnel
