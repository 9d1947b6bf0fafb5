// How far a prediction may be off: from the error that a calibration had on runs that it was not
// fitted on (error.step, error.memory: log standard deviations with an interval) to the factor
// between a prediction and the ends of its interval.
#pragma once

#include "models/base/origin.hpp"

namespace windtunnel {

inline constexpr double kReportedShare = 0.95;  // that the intervals of reports cover

// Of errors that `error` is the log standard deviation of, so many independent ones tell it: one
// known from n of them is itself uncertain by the factor exp(1 / sqrt(2 n)), and its 90 % interval
// says so. Without an interval: endlessly many.
double freedom_of(const Parameter& error);

// The share `covered` (0.9, 0.95) of such predictions is off by less than this factor, at least 1,
// either way. Student t, because the standard deviation is an estimate (Gelman et al., Bayesian
// Data Analysis, section 2.6).
double error_factor(const Parameter& error, double covered);

}  // namespace windtunnel
