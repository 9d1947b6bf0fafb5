// Measured series of kernels against the laws that were fitted on others of the same run:
// compositions, and sizes that lie between those fitted on.
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

// Of series with the role judge; those of the role fit are counted as fitted. Baseline: the bytes
// at the rate of the largest copy. A kernel without a law is listed as skipped.
ValidationReport validate_samples(const SampleFile& file, const KernelLaws& laws);

// What a device reaches at large sizes: peaks for a scenario of a machine without a data sheet. 0:
// not measured.
struct DeviceRates {
  double flops = 0;       // FLOP/s of fp32 products
  double memory_Bps = 0;  // read and written
  double port_Bps = 0;    // between ranks, each way
};
DeviceRates device_rates(const KernelLaws& laws);

// What is known of a device beside its timings.
struct MeasuredDevice {
  DeviceKind kind = DeviceKind::cpu;
  const GpuSpec* spec = nullptr;  // nullptr: no data sheet
  double port_Bps = 0;            // to others of its node; 0: not known
  std::string source;             // device and date
};

// `base` with the laws, which are the time of what they were measured for, and what they tell of
// the rest: shares of compressors' kernels over the copy's rate; of products, copies and ports over
// the peaks of `spec`, or 1 where there is none: then the peaks are device_rates(); launch and
// latency of collectives among other numbers of ranks. A CPU launches nothing and computes nothing
// while it sends: its constants for that are set so.
Calibration calibration_of(const KernelLaws& laws, const Calibration& base,
                           const MeasuredDevice& device);

}  // namespace windtunnel
