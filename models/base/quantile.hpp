// Quantiles of samples, linear between neighbours (Hyndman and Fan 1996, definition 7).
#pragma once

#include <cstddef>
#include <vector>

namespace windtunnel {

// 95 % quantile of the standard normal law: 90 % lie this near to its middle.
constexpr double kNormal95 = 1.6448536269514722;

// Of one value or more; share 0 to 1.
double quantile_of_sorted(const std::vector<double>& sorted, double share);
double quantile(std::vector<double> values, double share);
double median(std::vector<double> values);

// Standard deviation of a normal law of which some values lie `distances` from its middle, one or
// more, by their median: half may be outliers (Rousseeuw and Croux 1993, the MAD).
double normal_spread(std::vector<double> distances);

// Standard error of the median of `count` values of a normal law of standard deviation `spread`:
// sqrt(pi / 2) that of their mean.
double error_of_median(double spread, std::size_t count);

}  // namespace windtunnel
