// Quantiles of samples, linear between neighbours (Hyndman and Fan 1996, definition 7).
#pragma once

#include <vector>

namespace windtunnel {

// Standard deviation of a normal law over the median of its distance from the middle.
constexpr double kNormalOfMedian = 1.4826;

// Of one value or more; share 0 to 1.
double quantile_of_sorted(const std::vector<double>& sorted, double share);
double quantile(std::vector<double> values, double share);
double median(std::vector<double> values);

}  // namespace windtunnel
