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
// work together; null for a single rank. `products` are the products of a job (job_products()),
// which are measured in addition to a grid of shapes.
std::vector<TimedWork> kernel_suite(const Device& device, double memory_bytes,
                                    Collectives* collectives = nullptr,
                                    std::span<const KernelWork> products = {});

// Returns the matrix products that a job runs on a GPU: from linear layers and experts in all
// passes, each shape once; for experts one product of a batch.
std::vector<KernelWork> job_products(const Job& job);

// Returns TimedWork::tier for each work. Tier 0 has for each law as many sizes as it needs, over
// its whole range; tier 1 every second one of its other sizes, and of each kind of judging works;
// tier 2 the rest. If time is short, the works that the laws need are thus measured first, then
// intermediate sizes and works for judging.
std::vector<int> tiers_of(std::span<const TimedWork> works);

// Returns the expected time of a block of timings, including its buffers, relative to that of the
// smallest work. CPU: fitted on a host. CUDA: from the rates of data sheets (assumed).
double effort_of(const TimedWork& work, DeviceKind kind);

struct PricedWork {
  int tier = 0;
  double seconds = 0;  // expected time to measure it once
};

// Returns whether each work is measured: all of tier 0; then, tier by tier and in the given order,
// as many as fit into the rest of the time.
std::vector<bool> affordable(std::span<const PricedWork> works, double time_s);

}  // namespace windtunnel
