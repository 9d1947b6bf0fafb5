// Bounds that the result of no scenario may leave.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "models/results/record.hpp"

namespace windtunnel {

inline constexpr double kRounding = 1e-9;

inline bool near(double a, double b, double tolerance = kRounding) {
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

struct RecordBound {
  const char* name;
  std::function<bool(const Record&)> holds;
};

// Of a record with a campaign.
const std::vector<RecordBound>& record_bounds();

}  // namespace windtunnel
