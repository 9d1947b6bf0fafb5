// The order in which reports list points: one for console, pages and documents.
#pragma once

#include <cstddef>
#include <vector>

namespace windtunnel {

struct Standing {
  bool fits = true;  // in memory; what does not stands behind all that does
  double worth = 0;  // more is better; not a number: nothing is known, behind what is
};

// Indices of the points, the best first; equal ones stay in their order.
std::vector<std::size_t> best_first(const std::vector<Standing>& points);

}  // namespace windtunnel
