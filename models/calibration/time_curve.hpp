// Time of a kernel over its size where one rate does not tell it (caches, protocols, small sizes):
// straight pieces that never fall, fitted on measured series.
#pragma once

#include <vector>

namespace windtunnel {

// Seconds at `sizes` (ascending), linear between them, beyond the last by the last piece's slope,
// below the first as the first.
struct TimeCurve {
  std::vector<double> sizes;
  std::vector<double> seconds;
  double spread = 0;  // of log(measured / curve), from the median of sizes left out

  double at(double size) const;
};

struct TimedSize {
  double size = 0;
  double seconds = 0;
  double spread = 0;  // relative, of the median
};

// t = a + sum over pieces of slope x length, a and slopes >= 0 (nonnegative_fit.hpp), errors
// relative, rows far off weighted down (Student-t with 4 degrees of freedom), and those that are
// less sure than most. As many pieces as the
// Bayesian information criterion asks for, at most 4, ends at measured sizes. Throws Error with
// fewer than 3 sizes.
TimeCurve fit_time_curve(std::vector<TimedSize> points);

}  // namespace windtunnel
