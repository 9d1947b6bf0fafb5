// Says where a simulated step of one rank goes, in the terms of a profiler's trace (kernels by
// class, exposed communication, idle time), so that the step and a trace can be compared.
#pragma once

#include "models/cost/chunk/kernel_seconds.hpp"
#include "models/plan/job.hpp"
#include "models/plan/timeline.hpp"

namespace windtunnel {

struct RankStep {
  double step_s = 0;
  KernelSeconds kernels = {};  // of all the step's micro-batches, as if kernels ran alone
  double optimizer_s = 0;
  // The following members except hidden_s add up to the step.
  double compute_s = 0;  // kernels as they run in the step
  double inside_s = 0;   // exposed communication inside passes (tp, cp, ep)
  double outside_s = 0;  // other exposed communication, and waits for messages
  double host_s = 0;     // the GPU waits for the host
  double idle_s = 0;     // nothing runs
  double hidden_s = 0;   // communication that overlaps kernels
};

// Describes the last reported iteration. `plan` and `timeline` belong to the job.
RankStep rank_step(const Job& job, const Plan& plan, const Timeline& timeline, double step_s,
                   RankId rank);

}  // namespace windtunnel
