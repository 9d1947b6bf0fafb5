// Series of one kernel in order of size, and how far each lies from what the others make expect:
// how rows are judged without a fit, which a bad row would bend.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "models/calibration/sample.hpp"

namespace windtunnel {

struct SizedSample {
  const Sample* sample = nullptr;
  double size = 0;      // FLOPs of products, else bytes moved
  double bytes = 0;     // moved
  double log_s = 0;     // of the median
  double noise = 0;     // standard deviation of log_s by the series' own interval
  double residual = 0;  // log_s less what the others make expect
  bool inner = false;   // they lie on both sides: expected between, not beyond
};

struct KernelSeries {
  std::string key;       // law_key(), " cold" and how many ranks ran it at once where they differ
  bool product = false;  // of matrices: time follows FLOPs
  std::vector<SizedSample> points;  // by size
  double noise = 0;                 // robust standard deviation of the residuals
};

std::vector<const Sample*> rows_of(const KernelSeries& series);

// Of single works that were to be fitted on or judged. Expected is a line in log size and log time
// through three neighbours on either side (repeated medians, Siegel 1982), which two bad ones of
// six do not bend.
std::vector<KernelSeries> kernel_series(std::span<const Sample* const> samples);

// Robust standard deviation of the residuals of all.
double noise_of(std::span<const KernelSeries> series);

}  // namespace windtunnel
