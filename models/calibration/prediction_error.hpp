// How far a prediction may be off: turns the error that a calibration had on runs outside its fit
// (error.step, error.memory: a standard deviation of the logarithm, with an interval) into the
// factor between a prediction and the ends of its interval.
#pragma once

#include <string>

#include "models/base/origin.hpp"

namespace windtunnel {

inline constexpr double kReportedShare = 0.95;  // coverage of the intervals in reports

// How many independent errors would determine `error`, a standard deviation of the logarithm, as
// precisely as its interval says. From n errors it is uncertain by the factor exp(1 / sqrt(2 n)),
// and its 90 % interval expresses that. Without an interval: infinitely many.
double freedom_of(const Parameter& error);

// The share `covered` (0.9, 0.95) of predictions is off by at most this factor, which is at least
// 1, either way. Student t, because the standard deviation is an estimate (Gelman et al., Bayesian
// Data Analysis, section 2.6).
double error_factor(const Parameter& error, double covered);
// The probability that the true value exceeds `factor` times the prediction.
double chance_above(const Parameter& error, double factor);

// Uncertainty from another cause than the calibration: logarithms of the factors by which a step is
// shorter and longer at the ends of its 90 % range.
struct StepSpread {
  double shorter = 0;
  double longer = 0;
};
// Returns a log standard deviation that follows from `errors` independent errors, with its 90 %
// interval.
Parameter error_told_by(double deviation, int errors, std::string source);
// Returns the error that gives the wider interval.
const Parameter& larger_error(const Parameter& one, const Parameter& other);
// Both factors are at least 1: the interval is from prediction / `shorter` to prediction *
// `longer`.
struct ErrorFactors {
  double shorter = 1;
  double longer = 1;
};
// The two errors are independent: their logarithms add as variances do.
ErrorFactors error_factors(const Parameter& error, double covered, const StepSpread& spread);

}  // namespace windtunnel
