// The part of `windtunnel calibrate` that measures kernels on a device of this machine, fits their
// laws, and judges the laws on compositions that it also measures.
#pragma once

#include <functional>
#include <string>

#include "cli/program/command.hpp"
#include "models/base/error.hpp"
#include "models/calibration/kernel_law.hpp"
#include "traces/rows/samples.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// Writes the page of samples and their laws; empty in programs that cannot write pages.
using SamplesPage =
    std::function<std::string(const SampleFile&, const KernelLaws&, const ValidationReport&)>;

struct KernelCalibration {
  std::string backend;      // "cpu", "cuda"
  int ranks = 0;            // ranks that run each work together; 0: one per device
  std::string coordinator;  // "HOST:PORT" of rank 0 for launched ranks; empty: from the launcher
  bool force = false;       // overwrite files, and use samples that are refused
  double budget_s = 180;
  std::string samples;   // CSV; series in it are not measured again
  std::string base;      // a calibration for what is not measured
  std::string scenario;  // also measure its matrix products; empty: none
  std::string out;
  bool json = false;
  std::string page;  // path; empty: no page
  SamplesPage page_of;
};

// Throws Error if a calibration cannot be written there. Called before minutes of work.
void check_out(const std::string& path, bool force);

// Measures with ranks that it starts on this machine (CPU: at most 8 by default), or with ranks
// that a launcher started; then only rank 0 reads, writes and prints. ExitCode::incomplete after
// SIGINT or SIGTERM: finished series are in `samples`.
ExitCode calibrate_on_kernels(const KernelCalibration& options);

// The options of `calibrate --backend`, which measures a device of this machine. windtunnel-harness
// has only these; windtunnel has them next to the options for measured rows.
struct DeviceCalibration {
  std::string backend;
  int ranks = 0;  // 0: one per device
  std::string coordinator;
  std::string budget = "3 min";
  std::string samples;
  std::string scenario;
  std::string base;
  std::string out;
  bool force = false;
  bool json = false;
  std::string page;
  SamplesPage page_of;  // for `page`
};

void add_device_options(const CommandLine& app, DeviceCalibration& options);
// Adds --out, --force, --json.
void add_output_options(const CommandLine& app, DeviceCalibration& options);

ExitCode calibrate_on_device(const DeviceCalibration& options);

// Defines the command with only these options.
Handler define_device_calibration(const CommandLine& app);

}  // namespace windtunnel
