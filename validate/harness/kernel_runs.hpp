// One kernel of kernels/ at a time, by its name in models/kernel_work.hpp, with buffers and data of
// its own.
#pragma once

#include <functional>

#include "kernels/device.hpp"
#include "models/kernel_work.hpp"

namespace windtunnel {

// What it returns owns the buffers, and starts the kernel whenever it is called.
using PrepareKernel = std::function<void()> (*)(const KernelWork& work, const Device& device);

// nullptr: the device has no form of it (for this type).
PrepareKernel find_kernel(const KernelWork& work, const Device& device);

}  // namespace windtunnel
