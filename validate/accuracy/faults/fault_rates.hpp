// Rates of failures that several published rows tell together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "traces/rows/fault_points.hpp"

namespace windtunnel {

// A mean time between failures in hours of a job of `nodes` nodes.
struct PublishedMean {
  std::string row;
  int nodes = 0;
  double mtbf_h = 0;
};

// Rows of `metric` (empty: any) in the source of `like` that state nodes and a mean time.
std::vector<PublishedMean> published_means(const std::vector<FaultPoint>& points,
                                           const FaultPoint& like, const std::string& metric);

// One rate per node that fits all by least squares of the logarithm, in failures per node and
// second.
double fitted_rate_per_node_s(const std::vector<PublishedMean>& means);

// The rate per node grows as nodes^growth between the smallest and the largest job; none unless
// they differ in size.
std::optional<double> fitted_growth(const std::vector<PublishedMean>& means);

}  // namespace windtunnel
