// Selects four of eight bytes, which a GPU does in one instruction.
#pragma once

#include <cstdint>

#include "kernels/device/host_device.cuh"

namespace windtunnel {

// PRMT: byte i of the result is byte (selector >> 4i & 7) of b:a. The top bit of each of the
// selector's four low nibbles must be 0; higher bits are ignored.
WINDTUNNEL_BOTH inline std::uint32_t select_bytes(std::uint32_t a, std::uint32_t b,
                                                  std::uint32_t selector) {
#ifdef __CUDA_ARCH__
  return __byte_perm(a, b, selector);
#else
  const std::uint64_t bytes = (static_cast<std::uint64_t>(b) << 32) | a;
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t index = (selector >> (4 * i)) & 7;
    result |= static_cast<std::uint32_t>((bytes >> (8 * index)) & 0xff) << (8 * i);
  }
  return result;
#endif
}

}  // namespace windtunnel
