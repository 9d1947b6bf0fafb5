// Measured series of kernels against the laws that were fitted on others of the same run:
// compositions, and sizes that lie between those fitted on.
#pragma once

#include <span>

#include "models/calibration.hpp"
#include "models/cluster.hpp"
#include "models/kernel_law.hpp"
#include "traces/samples.hpp"
#include "validate/accuracy/validation_report.hpp"

namespace windtunnel {

// Of series with the role judge; those of the role fit are counted as fitted. Baseline: the bytes
// at the rate of the largest copy. A kernel without a law is listed as skipped.
ValidationReport validate_samples(const SampleFile& file, const KernelLaws& laws);

// What a device reaches at large sizes: peaks for a scenario of a machine without a data sheet.
struct DeviceRates {
  double flops = 0;       // FLOP/s of fp32 products; 0: not measured
  double memory_Bps = 0;  // read and written
};
DeviceRates device_rates(const KernelLaws& laws);

// `base` with what the laws tell: shares of compressors' kernels over the copy's rate; of products
// and copies over the peaks of `spec`, or 1 where there is none: then the peaks are device_rates().
// `source`: device and date.
Calibration calibration_of(const KernelLaws& laws, const Calibration& base, const GpuSpec* spec,
                           const std::string& source);

}  // namespace windtunnel
