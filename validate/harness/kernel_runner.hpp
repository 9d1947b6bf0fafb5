// Works by their names on a device: buffers with data like real ones, and calls of kernels/.
#pragma once

#include <functional>
#include <string>

#include "kernels/device.hpp"
#include "models/kernel_work.hpp"
#include "validate/harness/measure.hpp"

namespace windtunnel {

// Empty where the device has a form of each, else which one it has not.
std::string why_not_runnable(const KernelSteps& steps, const Device& device);

// Of all buffers of the steps, which stand at once.
double memory_bytes(const KernelSteps& steps);

// Steps in turn, works of a step on streams (threads) of their own.
TimedWork timed_work(const KernelSteps& steps, SampleRole role, CacheState cache,
                     const Device& device);

}  // namespace windtunnel
