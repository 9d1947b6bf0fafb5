// Idle time put to use: from a Plan and the Timeline that it was executed in to the Plan with work
// of Job::filling where its ranks idled. As DiffusionPipe does (arXiv 2405.01248) it profiles
// first: every idle period of the stream that kernels run on takes as many pieces as end in it,
// less the margin. So nothing that is hidden makes a step longer. What a step needs and no idle
// period has room for runs at the end of the iteration, exposed. Rules: docs/physics/idle-time.md.
#pragma once

#include <span>
#include <vector>

#include "models/cost/memory/memory.hpp"
#include "models/plan/job.hpp"
#include "models/plan/timeline.hpp"
#include "models/results/filling_report.hpp"

namespace windtunnel {

struct FilledPlan {
  Plan plan;
  FillingReport report;  // without the steps' times
};

// `memory`: [pipeline rank] beside which the work must fit; empty: any does. `slowdowns`: [class]
// by how much its kernels take longer; empty: as the machine says. Of a job with filling.
FilledPlan fill_plan(const Job& job, const std::vector<GpuMemory>& memory, const Plan& plan,
                     const Timeline& timeline, std::span<const double> slowdowns = {});

// Evaluates the Plan, fills the idle times found, and evaluates it again.
Timeline evaluate_filled(const Job& job, const std::vector<GpuMemory>& memory, Plan& plan,
                         std::span<const double> slowdowns = {});

}  // namespace windtunnel
