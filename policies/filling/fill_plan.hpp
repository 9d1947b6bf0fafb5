// Fills idle time: from a Plan and the Timeline of its execution, makes a Plan with work of
// Job::filling in the idle periods of its ranks. Like DiffusionPipe (arXiv 2405.01248) it profiles
// first: every idle period of the compute stream gets as many pieces as fit, less a margin, so
// hidden work never lengthens a step. Needed work that does not fit into idle periods runs at the
// end of the iteration, exposed. Rules: docs/physics/idle-time.md.
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
  FillingReport report;  // without step times
};

// `memory`: [pipeline rank] used by training; the work must fit in the rest; empty: unlimited.
// `slowdowns`: [class] of kernels; empty: by the machine. The job must have filling.
FilledPlan fill_plan(const Job& job, const std::vector<GpuMemory>& memory, const Plan& plan,
                     const Timeline& timeline, std::span<const double> slowdowns = {});

// Evaluates the Plan, fills the idle times found, and evaluates it again.
Timeline evaluate_filled(const Job& job, const std::vector<GpuMemory>& memory, Plan& plan,
                         std::span<const double> slowdowns = {});

}  // namespace windtunnel
