// Sample loading can delay a step; this header computes by how much.
#pragma once

#include "models/plan/job.hpp"
#include "models/results/input_report.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

// For a job with an input pipeline, simulates a step without it to compare with `step_s`.
InputReport study_input(const Job& job, const PreparedIteration& prepared, double step_s,
                        int threads = 0);

}  // namespace windtunnel
