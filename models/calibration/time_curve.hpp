// Time of a kernel by size, where a single rate does not fit (caches, protocols, small sizes):
// piecewise linear and never falling, fitted on measurements.
#pragma once

#include <vector>

namespace windtunnel {

// Seconds at `sizes` (ascending), linear between them; beyond the last size the last slope
// continues, below the first size the time is constant.
struct TimeCurve {
  std::vector<double> sizes;
  std::vector<double> seconds;
  double spread = 0;  // of log(measured / curve), by the median over left-out sizes

  double at(double size) const;
};

struct TimedSize {
  double size = 0;
  double seconds = 0;
  double spread = 0;  // relative, of the median time
};

// t = a + sum over pieces of slope x length, with a and slopes >= 0 (nonnegative_fit.hpp) and
// relative errors. Outliers (Student-t with 4 degrees of freedom) and points less certain than most
// get less weight. The Bayesian information criterion chooses the number of pieces, at most 4,
// which end at measured sizes. Throws Error with fewer than 3 sizes.
TimeCurve fit_time_curve(std::vector<TimedSize> points);

}  // namespace windtunnel
