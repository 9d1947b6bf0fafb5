// The options of `calibrate --backend`, which measures a device of this machine: the only ones in
// windtunnel-harness, and in windtunnel next to those for measured rows.
#pragma once

#include <string>

#include "cli/program/command.hpp"
#include "validate/commands/calibrate_kernels.hpp"

namespace windtunnel {

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
