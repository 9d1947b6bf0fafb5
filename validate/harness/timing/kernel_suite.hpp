// The works that a calibration measures: every kernel of the device and every collective of the
// ranks over a range of sizes, to fit on; and compositions and sizes in between, to judge the fit.
// tiers_of() decides what is left out if time is short.
#pragma once

#include <span>
#include <vector>

#include "kernels/device/device.hpp"
#include "models/calibration/kernel_work.hpp"
#include "models/plan/job.hpp"
#include "validate/harness/collectives/collectives.hpp"
#include "validate/harness/timing/kernel_runner.hpp"

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

// Selects the part of a suite to measure if time is short: first works that the laws need, then
// intermediate sizes and works for judging.

// [work] TimedWork::tier. 0: for each law as many sizes as it needs, over its whole range. 1: every
// second one of its other sizes, and of each kind of judging works. 2: the rest.
std::vector<int> tiers_of(std::span<const TimedWork> works);

// The expected time of a block of timings, including its buffers, relative to that of the smallest
// work. CPU: fitted on a host. CUDA: from the rates of data sheets (assumed).
double effort_of(const TimedWork& work, DeviceKind kind);

struct PricedWork {
  int tier = 0;
  double seconds = 0;  // expected time to measure it once
};

// [work] Whether it is measured: all of tier 0; then, tier by tier and in the given order, as many
// as fit into the rest of the time.
std::vector<bool> affordable(std::span<const PricedWork> works, double time_s);

}  // namespace windtunnel
