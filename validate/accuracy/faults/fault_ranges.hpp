// A prediction that rests on inputs which its source does not publish is a range: the least and the
// most over the box that the ranges of these inputs span.
// Where the result is known to fall or to rise with an input, its worse and its better end suffice;
// the other inputs take five levels each; points inside the box check both, and count.
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
  std::string why;                  // both ends, chosen before anything was predicted
  Origin origin = Origin::assumed;  // published: both ends, elsewhere
  int effect = 0;                   // 1, -1: the result rises, falls as it grows; 0: not known
  bool stated = false;              // the source itself states the range
  double swing = 0;  // |change of the result| from end to end, the others in the middle

  double at(double share) const;  // 0: low, 1: high; geometric from a factor of 3 on
};

struct PredictedRange {
  double value = 0;  // all inputs in the middle of their ranges
  double low = 0;
  double high = 0;
  int points = 0;
};

// One value per input, in order.
using FaultPredictor = std::function<double(const std::vector<double>&)>;
using FaultConstraint = std::function<bool(const std::vector<double>&)>;

// Sets the swings.
PredictedRange range_over(std::vector<FaultInput>& inputs, const FaultPredictor& predict,
                          int threads);

// Over the part of the box where `allowed` holds: what lies beyond is drawn in, towards the best
// corner, until it does. Throws Error when not even that corner is allowed.
PredictedRange range_within(const std::vector<FaultInput>& inputs, const FaultPredictor& predict,
                            const FaultConstraint& allowed, int threads);

}  // namespace windtunnel
