// TernGrad (Wen et al. 2017, arXiv 1705.07878): codes -1, 0 or 1 in two bits. The sign is sent with
// probability |x| / maximum, so that the expected value of code * maximum is x. The maximum is over
// all ranks, so it is computed and reduced first, and then passed to the encoder.
//
// Element i uses word i % 4 of Philox(seed, i / 4), so that CPU and CUDA give the same bits.
// Probabilities are multiples of 2^-24, rounded up: 0 is never sent and the maximum always. Codes
// are two's complement: 00 zero, 01 one, 11 minus one; 16 per word, the first in the lowest bits.
// With a maximum of NaN or infinity all codes are zero and decode to NaN. A NaN element under a
// finite maximum (which `maximum` never returns then) is sent as zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/device.hpp"

namespace windtunnel {

// Number of words, which fill whole vectors of 16 bytes; bits beyond the elements are zero.
constexpr std::size_t ternary_words(std::size_t elements) {
  return (elements + 63) / 64 * 4;
}

// Arrays and the maximum are in the device's memory; arrays are aligned to 16 bytes and do not
// overlap. Kernels may run until Device::synchronize.
struct Ternary {
  void (*maximum)(const float* x, std::size_t elements, float* maximum);  // of |x|
  void (*encode)(const float* x, std::size_t elements, const float* maximum, std::uint64_t seed,
                 std::uint32_t* words);
  void (*decode)(const std::uint32_t* words, std::size_t elements, const float* maximum, float* x);
};

const Ternary& ternary(DeviceKind kind);

}  // namespace windtunnel
