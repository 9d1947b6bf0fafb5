// How far a predicted step may be off in both directions: the rule behind every figure with such a
// range.
#pragma once

#include "models/calibration/prediction_error.hpp"
#include "models/results/iteration_report.hpp"

namespace windtunnel {

// Combines the error with the part of the host's spread that it does not contain
// (Familiarity::not_contained); `covered` is the probability of the range. The shorter
// end is limited by the GPUs' peak (hfu_causal = 1): no step is shorter than its FLOPs at peak
// take.
ErrorFactors step_factors(const IterationReport& step, double covered);

// Limits `off` by the peak, as step_factors() does. `hfu_causal`: of the step; 0: unknown, no
// limit.
ErrorFactors held_at_peak(ErrorFactors off, double hfu_causal);

// step_factors() without the limit: the law of the error, used for probabilities.
ErrorFactors unheld_step_factors(const IterationReport& step, double covered);

}  // namespace windtunnel
