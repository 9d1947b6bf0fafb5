// `calibrate --backend`: the options by which a device of this machine is measured, alone in
// windtunnel-harness and beside those of measured rows in windtunnel.
#pragma once

#include <string>

#include "cli/program/command.hpp"
#include "validate/commands/calibrate_kernels.hpp"

namespace windtunnel {

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
