// The effect of sample loading on a step.
#pragma once

#include "models/plan/job.hpp"
#include "models/results/input_report.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

// For a job with an input pipeline whose step takes `step_s`; simulates one without it.
InputReport study_input(const Job& job, const PreparedIteration& prepared, double step_s,
                        int threads = 0);

}  // namespace windtunnel
