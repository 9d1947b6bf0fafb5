// How each published metric is predicted: one table from its name to the function.
#pragma once

#include <vector>

#include "traces/rows/fault_points.hpp"
#include "validate/accuracy/faults/faults.hpp"

namespace windtunnel {

struct FaultContext {
  const std::vector<FaultPoint>& points;  // all, to fit rates on
  int threads = 0;
};

// One prediction per measured number that the row's inputs reach. Throws Error with the reason when
// they reach none.
std::vector<FaultPrediction> predict_fault_point(const FaultPoint& point,
                                                 const FaultContext& context);

}  // namespace windtunnel
