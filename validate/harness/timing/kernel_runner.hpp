// Works by their names on a device: buffers with data like real ones, calls of kernels/, and
// collectives where `collectives` joins the ranks that run the same works.
#pragma once

#include <functional>
#include <string>

#include "kernels/device/device.hpp"
#include "models/calibration/kernel_work.hpp"
#include "validate/harness/collectives/collectives.hpp"
#include "validate/harness/timing/timed_work.hpp"

namespace windtunnel {

// Empty where the device has a form of each and the ranks are there, else what is missing.
std::string why_not_runnable(const KernelSteps& steps, const Device& device,
                             const Collectives* collectives = nullptr);

// Of all buffers of the steps, which stand at once.
double memory_bytes(const KernelSteps& steps);

// Steps in turn, works of a step on streams (threads) of their own. Cold: each run on other
// buffers, which come round after so many bytes that no cache holds them; to fill the caches with
// something else would count what is written back of that. `collectives` must outlive it.
TimedWork timed_work(const KernelSteps& steps, SampleRole role, CacheState cache,
                     const Device& device, Collectives* collectives = nullptr);

// One collective of models/calibration/kernel_work.hpp at a time, between ranks that all run it,
// with buffers of its own. Kinds that name an algorithm are those of TcpCollectives; the others run
// through whatever joins the ranks.

// Empty where it can run, else why not; nullptr: a rank alone.
std::string why_no_collective(const KernelWork& work, const Collectives* collectives);

// What it returns owns the buffers; `collectives` must outlive it.
std::function<void()> prepare_collective(const KernelWork& work, const Device& device,
                                         Collectives& collectives);

}  // namespace windtunnel
