// One bit an element: signSGD with majority vote (Bernstein et al. 2018, arXiv 1802.04434), and
// signs with a scale and error feedback (Karimireddy et al. 2019, arXiv 1901.09847; 1-bit Adam,
// Tang et al. 2021, arXiv 2102.02888).
//
// Bit i % 32 of word i / 32 is set where x_i >= 0: zero and -0 count as positive, a NaN as
// negative. The scale of a tensor is the mean of |x|, told by the sum of |x|: a NaN or an infinity
// makes every decoded element and every error NaN or infinite, so that it is noticed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/device.hpp"

namespace windtunnel {

// Whole vectors of 16 bytes; bits beyond the elements are clear.
constexpr std::size_t sign_words(std::size_t elements) {
  return (elements + 127) / 128 * 4;
}

constexpr int kMaxVotes = 65535;

// Arrays lie in the device's memory, aligned to 16 bytes, and do not overlap; sums too lie there.
// Kernels may still run until Device::synchronize. CPU and CUDA give the same bits, but sums of |x|
// are added up in double in another order: they differ by at most elements * 2^-53 of themselves,
// and the scale, in fp32, by at most one unit in the last place.
struct SignCode {
  void (*pack)(const float* x, std::size_t elements, std::uint32_t* words);
  // +scale or -scale, scale = *magnitude / elements in fp32.
  void (*unpack)(const std::uint32_t* words, std::size_t elements, const double* magnitude,
                 float* x);
  // *sum = sum of |x_i + y_i|: the scale that belongs to this step (`error` then reads twice).
  void (*magnitude)(const float* x, const float* y, std::size_t elements, double* sum);
  // error += gradient; words = its signs; *next = sum of |error|; error -= scale * sign, with the
  // scale of *magnitude: of this step, or in one pass that of the last (`next` is another double).
  void (*error)(const float* gradient, std::size_t elements, const double* magnitude, float* error,
                std::uint32_t* words, double* next);
  // Bits set in at least half of 1 .. kMaxVotes arrays of sign_words that follow each other.
  void (*vote)(const std::uint32_t* words, int parts, std::size_t elements,
               std::uint32_t* majority);
};

const SignCode& sign_code(DeviceKind kind);

}  // namespace windtunnel
