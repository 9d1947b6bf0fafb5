// A prediction with inputs that its source does not publish is a range: the smallest and largest
// result over the box of the inputs' ranges. If the result is known to rise or fall with an input,
// its two ends suffice; other inputs take five levels each. Points inside the box check both, and
// also count.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/base/origin.hpp"

namespace windtunnel {

struct FaultInput {
  std::string name;
  std::string unit;  // empty: a plain number
  double low = 0;
  double high = 0;
  std::string why;                  // reason for both ends, chosen before any prediction
  Origin origin = Origin::assumed;  // published: both ends are, elsewhere
  int effect = 0;                   // 1 or -1: the result rises or falls with it; 0: not known
  bool stated = false;              // the source states the range
  double swing = 0;  // |change of the result| between the ends, with other inputs in the middle

  // 0: low, 1: high; geometric if the ends differ by a factor of 3 or more.
  double at(double share) const;
};

struct PredictedRange {
  double value = 0;  // with all inputs in the middle of their ranges
  double low = 0;
  double high = 0;
  int points = 0;
};

// One value per input, in order.
using FaultPredictor = std::function<double(const std::vector<double>&)>;
using FaultConstraint = std::function<bool(const std::vector<double>&)>;

// Sets the swings of `inputs`.
PredictedRange range_over(std::vector<FaultInput>& inputs, const FaultPredictor& predict,
                          int threads);

// The range over the part of the box where `allowed` holds: points outside are moved towards the
// best corner until it does. Throws Error if that corner is not allowed either.
PredictedRange range_within(const std::vector<FaultInput>& inputs, const FaultPredictor& predict,
                            const FaultConstraint& allowed, int threads);

}  // namespace windtunnel
