// These are failure rates determined by several published rows together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "traces/rows/fault_points.hpp"

namespace windtunnel {

// The mean time between failures, in hours, of a job with `nodes` nodes.
struct PublishedMean {
  std::string row;
  int nodes = 0;
  double mtbf_h = 0;
};

// Rows of `metric` (empty: any), from the same source as `like`, that state nodes and a mean time.
std::vector<PublishedMean> published_means(const std::vector<FaultPoint>& points,
                                           const FaultPoint& like, const std::string& metric);

// The failure rate per node and second that fits all rows by least squares of the logarithm.
double fitted_rate_per_node_s(const std::vector<PublishedMean>& means);

// The exponent by which the rate per node grows with the number of nodes, nodes^growth, between the
// smallest and the largest job; none unless these differ in size.
std::optional<double> fitted_growth(const std::vector<PublishedMean>& means);

}  // namespace windtunnel
