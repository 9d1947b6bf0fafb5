// A series of timings of one work on one device, written by the harness (docs/reference/rows.md
// lists the columns) and read by fits.
#pragma once

#include <string>

#include "models/calibration/kernel_work.hpp"

namespace windtunnel {

enum class SampleRole {
  fit,    // constants may be fitted on it
  judge,  // only for judging predictions: compositions
  again,  // the first works of a run, repeated at its end: shows drift
};

struct DeviceState {
  double clock_Hz = 0;  // 0: unknown
  double memory_clock_Hz = 0;
  double temperature_C = 0;
  bool throttled = false;
};

struct Sample {
  std::string id;  // "file:line"
  KernelSteps work;
  SampleRole role = SampleRole::fit;
  CacheState cache = CacheState::warm;
  // Seconds of the whole work: median of `repeats` timings with its bootstrap interval (95 %), and
  // the 5th and 95th percentile of the timings.
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
  int ranks = 1;             // ranks that ran it at once; a timing is that of the slowest
  int ranks_per_device = 1;  // above 1: time-sliced, valid for correctness only
  // Share of the timed interval in which other works on the device slowed it, as far as the ends of
  // timings show; 0 if enough timings were undisturbed.
  double disturbed = 0;
};

}  // namespace windtunnel
