// The part of `windtunnel calibrate` that measures kernels on a device of this machine, fits their
// laws, and judges these on compositions that it measured too.
#pragma once

#include <string>

#include "models/base/error.hpp"

namespace windtunnel {

struct KernelCalibration {
  std::string backend;  // "cpu", "cuda"
  int ranks = 1;        // that run each work at once
  double budget_s = 180;
  std::string samples;  // CSV; what it holds is not measured again
  std::string base;     // calibration that tells what is not measured
  std::string out;
  bool force = false;  // writes it over a file, and of samples that are refused
  bool json = false;
};

// Of a CPU as many as there are cores, at most 8.
int default_ranks(const std::string& backend);

// ExitCode::incomplete when SIGINT or SIGTERM came: what is measured stands in `samples`.
ExitCode calibrate_on_kernels(const KernelCalibration& options);

}  // namespace windtunnel
