// Compares measured series of kernels with laws fitted on other series of the same run:
// compositions, and intermediate sizes.
#pragma once

#include <span>
#include <string>

#include "kernels/device/device.hpp"
#include "models/calibration/calibration.hpp"
#include "models/calibration/kernel_law.hpp"
#include "models/machine/cluster.hpp"
#include "traces/rows/samples.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// Judges series with the role judge; counts those with the role fit as fitted. The baseline is the
// bytes at the rate of the largest copy. A kernel without a law is skipped.
ValidationReport validate_samples(const SampleFile& file, const KernelLaws& laws);

// Rates that a device reaches at large sizes, as peaks for a scenario of a machine without a data
// sheet. 0: not measured.
struct DeviceRates {
  double flops = 0;       // FLOP/s of fp32 products
  double memory_Bps = 0;  // read and written
  double port_Bps = 0;    // between ranks, each way
};
DeviceRates device_rates(const KernelLaws& laws);

// Describes a device beyond its timings.
struct MeasuredDevice {
  DeviceKind kind = DeviceKind::cpu;
  const GpuSpec* spec = nullptr;  // nullptr: no data sheet
  double port_Bps = 0;            // to others in its node; 0: not known
  std::string source;             // device and date
};

// Extends `base` with the laws, which give the times of measured kernels, and with constants
// derived from them: shares of compressors' kernels relative to the copy's rate; shares of
// products, copies and ports relative to the peaks of `spec`, or 1 without it (the peaks are then
// device_rates()); launch and latency of collectives for other numbers of ranks. A CPU has no
// launches, and does not compute while it sends; its constants say so.
Calibration calibration_of(const KernelLaws& laws, const Calibration& base,
                           const MeasuredDevice& device);

}  // namespace windtunnel
