// The works that a calibration measures: every kernel of the device and every collective of the
// ranks over a range of sizes, to fit on; and compositions and sizes in between, to judge the fit.
// suite_part.hpp decides what is left out if time is short.
#pragma once

#include <span>
#include <vector>

#include "kernels/device/device.hpp"
#include "models/calibration/kernel_work.hpp"
#include "models/plan/job.hpp"
#include "validate/harness/collectives/collectives.hpp"
#include "validate/harness/timing/timed_work.hpp"

namespace windtunnel {

// No work needs more than `memory_bytes` at a time. `collectives` connects the ranks that run a
// work together; nullptr: a single rank. `products`: a job's (job_products()), in addition to a
// grid.
std::vector<TimedWork> kernel_suite(const Device& device, double memory_bytes,
                                    Collectives* collectives = nullptr,
                                    std::span<const KernelWork> products = {});

// The matrix products that a job runs on a GPU, to be measured in addition to a grid of shapes.

// From linear layers and experts in all passes, each shape once; for experts one product of a
// batch.
std::vector<KernelWork> job_products(const Job& job);

}  // namespace windtunnel
