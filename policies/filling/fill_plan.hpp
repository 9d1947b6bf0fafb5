// Fills idle time: from a Plan and the Timeline of its execution, makes a Plan that also does the
// work of Job::filling in the idle periods of its ranks. Like DiffusionPipe (arXiv 2405.01248) it
// profiles first. Every idle period of the compute stream then gets as many pieces as fit, less a
// margin, so hidden work never lengthens a step. Work that the step needs and that does not fit
// into idle periods runs at the end of the iteration, exposed. Rules: docs/physics/idle-time.md.
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

// `memory`: [pipeline rank] memory that training uses, so that the work must fit into the rest;
// empty: unlimited. `slowdowns`: [class] of kernels; empty: the machine's. The job must have
// filling.
FilledPlan fill_plan(const Job& job, const std::vector<GpuMemory>& memory, const Plan& plan,
                     const Timeline& timeline, std::span<const double> slowdowns = {});

// Evaluates the Plan, fills its idle times, and evaluates it again.
Timeline evaluate_filled(const Job& job, const std::vector<GpuMemory>& memory, Plan& plan,
                         std::span<const double> slowdowns = {});

}  // namespace windtunnel
