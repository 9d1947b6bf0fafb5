// What loading its samples costs a step.
#pragma once

#include "models/plan/job.hpp"
#include "models/results/input_report.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

// Of a job with an input pipeline whose step takes `step_s`; simulates one without.
InputReport study_input(const Job& job, const PreparedIteration& prepared, double step_s,
                        int threads = 0);

}  // namespace windtunnel
