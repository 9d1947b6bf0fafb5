// Summary of a series of timings: its median with an interval, and the spread of timings.
#pragma once

#include <cstdint>
#include <vector>

namespace windtunnel {

struct SeriesSummary {
  double median_s = 0;
  // 95 % interval of the median, by the bootstrap (percentile method).
  double low_s = 0, high_s = 0;
  double p05_s = 0, p95_s = 0;  // quantiles of the timings

  double half_width() const { return (high_s - low_s) / (2 * median_s); }
};

// Needs at least one timing. The same seed gives the same interval.
SeriesSummary summarise(std::vector<double> seconds, std::uint64_t seed);

}  // namespace windtunnel
