// TernGrad (Wen et al. 2017, arXiv 1705.07878): -1, 0 or 1 of two bits, the sign with probability
// |x| / maximum, so that the expected value of code * maximum is x. The maximum is that of all
// ranks, so that it is found first, reduced, and given to the coding.
//
// Element i takes word i % 4 of Philox(seed, i / 4), so that CPU and CUDA give the same bits.
// Probabilities are multiples of 2^-24, rounded up: 0 is never sent and the maximum always.
// Codes are numbers of two's complement: 00 zero, 01 one, 11 minus one; 16 a word, the first in the
// lowest bits. A maximum that is NaN or infinite has zeros for codes and decodes to NaN. A NaN
// under a finite maximum (which `maximum` never gives) is sent as zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/device.hpp"

namespace windtunnel {

// Whole vectors of 16 bytes; what lies beyond the elements is zero.
constexpr std::size_t ternary_words(std::size_t elements) {
  return (elements + 63) / 64 * 4;
}

// Arrays lie in the device's memory, aligned to 16 bytes, and do not overlap; the maximum too lies
// there. Kernels may still run until Device::synchronize.
struct Ternary {
  void (*maximum)(const float* x, std::size_t elements, float* maximum);  // of |x|
  void (*encode)(const float* x, std::size_t elements, const float* maximum, std::uint64_t seed,
                 std::uint32_t* words);
  void (*decode)(const std::uint32_t* words, std::size_t elements, const float* maximum, float* x);
};

const Ternary& ternary(DeviceKind kind);

}  // namespace windtunnel
