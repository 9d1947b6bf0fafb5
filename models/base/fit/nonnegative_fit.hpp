// Weighted least squares with non-negative coefficients, for times that are sums of parts. The
// method is Lawson and Hanson's active set (Solving Least Squares Problems, 1974, chapter 23).
#pragma once

#include <vector>

namespace windtunnel {

// Minimises sum of weights[i] (sum over j of x_j columns[j][i] - y[i])^2 over x >= 0. Each column
// is as long as y; a column of zeros gets 0.
std::vector<double> nonnegative_fit(const std::vector<std::vector<double>>& columns,
                                    const std::vector<double>& y,
                                    const std::vector<double>& weights);

}  // namespace windtunnel
