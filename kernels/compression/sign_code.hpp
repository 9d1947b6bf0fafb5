// Codes of one bit per element: signSGD with majority vote (Bernstein et al. 2018, arXiv
// 1802.04434), and signs with a scale and error feedback (Karimireddy et al. 2019, arXiv
// 1901.09847; 1-bit Adam, Tang et al. 2021, arXiv 2102.02888).
//
// Bit i % 32 of word i / 32 is set if x_i >= 0: zero and -0 count as positive, a NaN as negative.
// The scale of a tensor is the mean of |x|, stored as the sum of |x|. A NaN or an infinity makes
// every decoded element and every error NaN or infinite, so that it is noticed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/device.hpp"

namespace windtunnel {

// Number of words, which fill whole vectors of 16 bytes; bits beyond the elements are clear.
constexpr std::size_t sign_words(std::size_t elements) {
  return (elements + 127) / 128 * 4;
}

constexpr int kMaxVotes = 65535;

// Arrays and sums are in the device's memory; arrays are aligned to 16 bytes and do not overlap.
// Kernels may run until Device::synchronize. CPU and CUDA give the same bits, except that they add
// |x| in double in different orders: sums differ by at most a share of elements * 2^-53, and the
// scale, in fp32, by at most one unit in the last place.
struct SignCode {
  void (*pack)(const float* x, std::size_t elements, std::uint32_t* words);
  // Decodes to +scale or -scale, where scale = *magnitude / elements in fp32.
  void (*unpack)(const std::uint32_t* words, std::size_t elements, const double* magnitude,
                 float* x);
  // *sum = sum of |x_i + y_i|, from which `error` can take the scale of the same step, though the
  // arrays are then read twice.
  void (*magnitude)(const float* x, const float* y, std::size_t elements, double* sum);
  // error += gradient; words = its signs; *next = sum of |error|; error -= scale * sign. The scale
  // follows from *magnitude: that of this step or, to need only one pass, of the last step. `next`
  // must be another double.
  void (*error)(const float* gradient, std::size_t elements, const double* magnitude, float* error,
                std::uint32_t* words, double* next);
  // Sets bits set in at least half of `parts` (1 .. kMaxVotes) consecutive arrays of sign_words().
  void (*vote)(const std::uint32_t* words, int parts, std::size_t elements,
               std::uint32_t* majority);
};

const SignCode& sign_code(DeviceKind kind);

}  // namespace windtunnel
