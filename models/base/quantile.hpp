// Quantiles of samples are linear between neighbours (Hyndman and Fan 1996, definition 7).
#pragma once

#include <cstddef>
#include <vector>

namespace windtunnel {

// 95 % quantile of the standard normal law: 90 % of values lie within this distance of the mean.
constexpr double kNormal95 = 1.6448536269514722;

// There must be at least one value; `share` is from 0 to 1.
double quantile_of_sorted(const std::vector<double>& sorted, double share);
double quantile(std::vector<double> values, double share);
double median(std::vector<double> values);

// Standard deviation of a normal law, from the median of the distances of one or more values to its
// mean. Up to half of them may be outliers (Rousseeuw and Croux 1993, the MAD).
double normal_spread(std::vector<double> distances);

// Standard error of the median of `count` values from a normal law of standard deviation `spread`:
// sqrt(pi / 2) times that of their mean.
double error_of_median(double spread, std::size_t count);

}  // namespace windtunnel
