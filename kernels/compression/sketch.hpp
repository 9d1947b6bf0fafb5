// Count-sketch of what is not zero, and a bitmap of where that is: S2 Reducer (Ge et al. 2021,
// arXiv 2110.02140), on the sketch of Charikar, Chen and Farach-Colton 2002. Sketches of several
// ranks are summed, bitmaps or-ed; then each element whose bit is set is estimated by the median of
// its three counters.
//
// Element i adds sign * x_i to one counter in each of 3 rows: of Philox(seed, i), words 0 to 2 say
// which, bits 0 to 2 of word 3 the sign.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/device.hpp"

namespace windtunnel {

constexpr std::size_t kSketchRows = 3;

// Bit i % 32 of word i / 32 is that of element i; whole vectors of 16 bytes, clear beyond the end.
constexpr std::size_t bitmap_words(std::size_t elements) {
  return (elements + 127) / 128 * 4;
}

// Arrays lie in the device's memory, aligned to 16 bytes, and do not overlap; elements < 2^32.
// Kernels may still run until Device::synchronize.
//
// Adding in fp32 depends on the order, which differs on CUDA from run to run: a counter of m
// elements is off by at most (m - 1) 2^-24 of the sum of their |x|, on either device. Where sums
// are exact (m = 1, small integers) the bits are the same. The estimate of one element is off by
// what else its counters hold; with a NaN or an infinity in them it may be NaN or infinite, and of
// the NaN or infinity itself it is.
struct Sketch {
  // `counters`: kSketchRows rows of `columns` >= 1, columns < 2^32. CUDA adds to them as its memory
  // does (PTX ISA, atom.add.f32): a sum or number below the normal ones counts as zero.
  void (*encode)(const float* x, std::size_t elements, std::uint64_t seed, std::size_t columns,
                 float* counters, std::uint32_t* bitmap);
  // Zeros where no bit is set.
  void (*estimate)(const float* counters, std::size_t columns, std::uint64_t seed,
                   const std::uint32_t* bitmap, std::size_t elements, float* x);
};

const Sketch& sketch(DeviceKind kind);

}  // namespace windtunnel
