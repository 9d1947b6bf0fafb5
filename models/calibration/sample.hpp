// One series of timings of the same work on one device, as the harness writes it
// (docs/reference/rows.md has the columns) and fits read it.
#pragma once

#include <string>

#include "models/calibration/kernel_work.hpp"

namespace windtunnel {

enum class SampleRole {
  fit,    // constants may be fitted on it
  judge,  // measured to be predicted: compositions
  again,  // the first works of a run repeated at its end: drift
};

struct DeviceState {
  double clock_Hz = 0;  // 0: not known
  double memory_clock_Hz = 0;
  double temperature_C = 0;
  bool throttled = false;
};

struct Sample {
  std::string id;  // "file:line"
  KernelSteps work;
  SampleRole role = SampleRole::fit;
  CacheState cache = CacheState::warm;
  // Seconds of the whole work, once: median of `repeats` timings with its bootstrap interval (95
  // %), and the 5th and 95th percentile of the timings.
  double median_s = 0;
  double low_s = 0, high_s = 0;
  double p05_s = 0, p95_s = 0;
  int repeats = 0;
  double order = 0;      // position in the run
  double started_s = 0;  // since the run began
  DeviceState before, after;
  std::string backend;  // "cpu", "cuda"
  std::string device;
  std::string driver;
  std::string date;
  int ranks = 1;             // that ran it at once; a timing is the slowest one's
  int ranks_per_device = 1;  // more: time-sliced, good for correctness alone
  // Share of the time of its timings that others were beside it on a device, taking from it, as far
  // as the ends of timings tell; 0 where enough of them had none.
  double disturbed = 0;
};

}  // namespace windtunnel
