// How much the loading of samples delays a step.
#pragma once

#include "models/plan/job.hpp"
#include "models/results/input_report.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

// Compares `step_s` with a simulated step without loading. The job must have an input pipeline.
InputReport study_input(const Job& job, const PreparedIteration& prepared, double step_s,
                        int threads = 0);

}  // namespace windtunnel
