// A count-sketch of the non-zero elements with a bitmap of their places: S2 Reducer (Ge et al.
// 2021, arXiv 2110.02140), with the sketch of Charikar, Chen and Farach-Colton 2002. Sketches of
// several ranks are summed and bitmaps or-ed; then each element whose bit is set is estimated by
// the median of its three counters.
//
// Element i adds sign * x_i to one counter in each of 3 rows. Words 0 to 2 of Philox(seed, i)
// select the counters, bits 0 to 2 of word 3 the signs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/device.hpp"

namespace windtunnel {

constexpr std::size_t kSketchRows = 3;

// Bit i % 32 of word i / 32 belongs to element i. Words fill whole vectors of 16 bytes; bits beyond
// the elements are clear.
constexpr std::size_t bitmap_words(std::size_t elements) {
  return (elements + 127) / 128 * 4;
}

// Arrays are in the device's memory, aligned to 16 bytes, and do not overlap; elements < 2^32.
// Kernels may run until Device::synchronize.
//
// fp32 sums depend on the order, which differs between runs on CUDA. On either device the error of
// a counter of m elements is at most (m - 1) 2^-24 of the sum of their |x|. If sums are exact (m =
// 1, small integers), the bits are the same. The error of an estimate comes from the other elements
// in its counters. If these contain a NaN or an infinity, the estimate may be NaN or infinite; the
// estimate of the NaN or infinity itself always is.
struct Sketch {
  // `counters`: kSketchRows rows of `columns`, with 1 <= columns < 2^32. CUDA adds with
  // atom.add.f32 (PTX ISA), which treats subnormal sums and numbers as zero.
  void (*encode)(const float* x, std::size_t elements, std::uint64_t seed, std::size_t columns,
                 float* counters, std::uint32_t* bitmap);
  // An element whose bit is not set becomes zero.
  void (*estimate)(const float* counters, std::size_t columns, std::uint64_t seed,
                   const std::uint32_t* bitmap, std::size_t elements, float* x);
};

const Sketch& sketch(DeviceKind kind);

}  // namespace windtunnel
