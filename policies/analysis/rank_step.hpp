// Where a step of one rank goes as it was simulated, in the same terms as a profiler's trace has
// it: kernels by class, communication that nothing hides, idle time. So the two can stand side by
// side.
#pragma once

#include "models/cost/chunk/kernel_seconds.hpp"
#include "models/plan/job.hpp"
#include "models/plan/timeline.hpp"

namespace windtunnel {

struct RankStep {
  double step_s = 0;
  KernelSeconds kernels = {};  // of all its micro-batches, isolated
  double optimizer_s = 0;
  // These sum up to the step.
  double compute_s = 0;  // kernels as they run in the step
  double inside_s = 0;   // communication inside of passes (tp, cp, ep) that nothing hides
  double outside_s = 0;  // other communication, and waiting for messages, beside no kernel
  double host_s = 0;     // the GPU waits for the host
  double idle_s = 0;     // nothing
  double hidden_s = 0;   // communication beside kernels
};

// The step of the last reported iteration. `plan` and `timeline` are the job's.
RankStep rank_step(const Job& job, const Plan& plan, const Timeline& timeline, double step_s,
                   RankId rank);

}  // namespace windtunnel
