// The part of `windtunnel calibrate` that measures kernels on a device of this machine, fits their
// laws, and judges these on compositions that it measured too.
#pragma once

#include <functional>
#include <string>

#include "cli/program/command.hpp"
#include "models/base/error.hpp"
#include "models/calibration/kernel_law.hpp"
#include "traces/rows/samples.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// The page of samples and their laws; empty in programs that have none.
using SamplesPage =
    std::function<std::string(const SampleFile&, const KernelLaws&, const ValidationReport&)>;

struct KernelCalibration {
  std::string backend;      // "cpu", "cuda"
  int ranks = 0;            // that run each work at once; 0: as many as there are devices
  std::string coordinator;  // "HOST:PORT" of rank 0 among ranks of a launcher; empty: it tells
  bool force = false;       // writes over a file, and of samples that are refused
  double budget_s = 180;
  std::string samples;   // CSV; what it holds is not measured again
  std::string base;      // calibration that tells what is not measured
  std::string scenario;  // whose matrix products are measured too; empty: none
  std::string out;
  bool json = false;
  std::string page;  // where it goes; empty: nowhere
  SamplesPage page_of;
};

// Throws Error where a calibration cannot be written there: before minutes of work, not after.
void check_out(const std::string& path, bool force);

// By ranks that it starts on this machine (CPU: at most 8 unless told), or with those that a
// launcher started along with this process; then rank 0 alone reads, writes and prints.
// ExitCode::incomplete when SIGINT or SIGTERM came: what is measured stands in `samples`.
ExitCode calibrate_on_kernels(const KernelCalibration& options);

// `calibrate --backend`: the options by which a device of this machine is measured, alone in
// windtunnel-harness and beside those of measured rows in windtunnel.

struct DeviceCalibration {
  std::string backend;
  int ranks = 0;  // 0: as many as there are devices
  std::string coordinator;
  std::string budget = "3 min";
  std::string samples;
  std::string scenario;
  std::string base;
  std::string out;
  bool force = false;
  bool json = false;
  std::string page;
  SamplesPage page_of;  // with `page`
};

void add_device_options(const CommandLine& app, DeviceCalibration& options);
// --out, --force, --json.
void add_output_options(const CommandLine& app, DeviceCalibration& options);

ExitCode calibrate_on_device(const DeviceCalibration& options);

// The command that does nothing else.
Handler define_device_calibration(const CommandLine& app);

}  // namespace windtunnel
