// Kernels of compressors by name, and how fast they are: the share of memory.efficiency's bandwidth
// that a kernel reaches on the bytes that it must move. The bytes are the recipes'; what atomics,
// scattered accesses, selection and several passes cost beyond them is in the share. Usual shares
// are what good kernels reach on one GPU of 2023; those of a framework can be far below (the exact
// top-k of PyTorch 1.x: 6 ns an element, gTop-k's logs of 2019), so a calibration states its own
// (`kernels`), and kernels that a software runs for each tensor beyond the recipe's
// (`kernel_starts`).
#pragma once

#include <span>
#include <string_view>

#include "models/base/origin.hpp"

namespace windtunnel {

struct CompressionKernel {
  std::string_view name;  // Op::compressing
  std::string_view help;
  Parameter share;
};

std::span<const CompressionKernel> compression_kernels();
const CompressionKernel* find_compression_kernel(std::string_view name);  // nullptr: none of them

}  // namespace windtunnel
