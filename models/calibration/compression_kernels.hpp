// Kernels of compressors by name, with their speed: the share of memory.efficiency's bandwidth that
// a kernel reaches on the bytes that its recipe counts. Costs beyond these bytes (atomics,
// scattered accesses, selection, several passes) are part of the share. The default shares are
// those of good kernels on one GPU of 2023. A framework's kernels can be far slower (exact top-k of
// PyTorch 1.x: 6 ns per element in gTop-k's logs of 2019), so a calibration can set its own shares
// (`kernels`) and count additional kernels per tensor (`kernel_starts`).
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
