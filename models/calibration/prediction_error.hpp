// How far a prediction may be off: from the error that a calibration had on runs that it was not
// fitted on (error.step, error.memory: log standard deviations with an interval) to the factor
// between a prediction and the ends of its interval.
#pragma once

#include <string>

#include "models/base/origin.hpp"

namespace windtunnel {

inline constexpr double kReportedShare = 0.95;  // that the intervals of reports cover

// The number of independent errors that would determine `error`, a log standard deviation, as well
// as it is known: one that is known from n of them is itself uncertain by the factor exp(1 / sqrt(2
// n)), and its 90 % interval says so. Without an interval: infinitely many.
double freedom_of(const Parameter& error);

// The share `covered` (0.9, 0.95) of such predictions is off by less than this factor, at least 1,
// either way. Student t, because the standard deviation is an estimate (Gelman et al., Bayesian
// Data Analysis, section 2.6).
double error_factor(const Parameter& error, double covered);
// The chance that what was predicted comes out as more than `factor` times as much.
double chance_above(const Parameter& error, double factor);

// By what else is uncertain: logarithms of the factors by which a step takes less and more time at
// the ends of its 90 % range.
struct StepSpread {
  double shorter = 0;
  double longer = 0;
};
// A log standard deviation that so many independent errors tell, with its 90 % interval.
Parameter error_told_by(double deviation, int errors, std::string source);
// The one by which predictions may be off further.
const Parameter& larger_error(const Parameter& one, const Parameter& other);
// At least 1: a prediction divided by `shorter` and multiplied by `longer`.
struct ErrorFactors {
  double shorter = 1;
  double longer = 1;
};
// Both errors are independent: their logarithms add up as variances do.
ErrorFactors error_factors(const Parameter& error, double covered, const StepSpread& spread);

}  // namespace windtunnel
