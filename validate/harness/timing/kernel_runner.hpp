// Prepares works by name on a device: buffers with realistic data, kernels, and collectives if
// `collectives` connects ranks that run the same works.
#pragma once

#include <functional>
#include <string>

#include "kernels/device/device.hpp"
#include "models/calibration/kernel_work.hpp"
#include "models/calibration/sample.hpp"
#include "validate/harness/collectives/collectives.hpp"

namespace windtunnel {

// A work to be measured, its purpose, and how to run it.
struct TimedWork {
  KernelSteps steps;
  SampleRole role = SampleRole::fit;
  CacheState cache = CacheState::warm;
  // Creates the buffers. The result owns them, and runs the work once (on a device: starts it).
  std::function<std::function<void()>()> prepare = {};
  int tier = 0;  // 0: always measured; if time is short, the highest tiers are left out first
};

// Returns "" if the device can run each step and the ranks are there, else what is missing.
std::string why_not_runnable(const KernelSteps& steps, const Device& device,
                             const Collectives* collectives = nullptr);

// Sums the bytes of all steps' buffers, which exist at the same time.
double memory_bytes(const KernelSteps& steps);

// Steps run in sequence; works of a step run on streams (threads) of their own. If the cache is
// cold, each run uses other buffers, which repeat after more bytes than any cache holds. (Filling
// the caches with other data instead would include the time to write that data back.) `collectives`
// must outlive the result.
TimedWork timed_work(const KernelSteps& steps, SampleRole role, CacheState cache,
                     const Device& device, Collectives* collectives = nullptr);

// Returns "" if the collective can run, else why not. A null `collectives` means a single rank.
std::string why_no_collective(const KernelWork& work, const Collectives* collectives);

// Prepares one collective of models/calibration/kernel_work.hpp, with buffers of its own, for ranks
// that all run it. Kinds that name an algorithm use TcpCollectives; others use whatever connects
// the ranks. The result owns the buffers; `collectives` must outlive it.
std::function<void()> prepare_collective(const KernelWork& work, const Device& device,
                                         Collectives& collectives);

}  // namespace windtunnel
