// The order of points in console, pages and documents.
#pragma once

#include <cstddef>
#include <vector>

namespace windtunnel {

struct Standing {
  bool fits = true;  // in memory; points that do not fit come last
  double worth = 0;  // more is better; NaN (not known) comes after all numbers
};

// Indices of the points, the best first; equal points keep their order.
std::vector<std::size_t> best_first(const std::vector<Standing>& points);

}  // namespace windtunnel
