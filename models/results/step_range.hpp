// How far a predicted step may be off, both ways: one rule for each figure that follows from it.
#pragma once

#include "models/calibration/prediction_error.hpp"
#include "models/results/iteration_report.hpp"

namespace windtunnel {

// By the calibration's error and what is known of the host, with the probability `covered`. The
// shorter end is held where the GPUs execute their peak (hfu_causal = 1): no step is shorter than
// its FLOPs take.
ErrorFactors step_factors(const IterationReport& step, double covered);

// `off` with that limit. `hfu_causal`: of the predicted step; 0: not known, no limit.
ErrorFactors held_at_peak(ErrorFactors off, double hfu_causal);

// The same without that limit: the law of the error, from which chances follow.
ErrorFactors unheld_step_factors(const IterationReport& step, double covered);

}  // namespace windtunnel
