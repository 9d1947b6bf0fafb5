// What a series of timings says: its median, how well that is known, and how far timings spread.
#pragma once

#include <cstdint>
#include <vector>

namespace windtunnel {

struct SeriesSummary {
  double median_s = 0;
  double low_s = 0, high_s = 0;  // of the median, 95 %, by the bootstrap (percentile method)
  double p05_s = 0, p95_s = 0;   // of the timings

  double half_width() const { return (high_s - low_s) / (2 * median_s); }
};

// Of one timing or more; the same seed, the same interval.
SeriesSummary summarise(std::vector<double> seconds, std::uint64_t seed);

}  // namespace windtunnel
