#include "kernels/compression/sketch.hpp"

#include <algorithm>

#include "kernels/compression/sketch_words.cuh"
#include "kernels/device/alignment.hpp"
#include "kernels/device/cuda_entries.hpp"

namespace windtunnel {
namespace {

void encode(const float* x, std::size_t elements, std::uint64_t seed, std::size_t columns,
            float* counters, std::uint32_t* bitmap) {
  check_alignment(x, counters, bitmap);
  check_sketch_sizes(elements, columns);
  std::fill(counters, counters + kSketchRows * columns, 0.0F);
  std::fill(bitmap, bitmap + bitmap_words(elements), 0u);
  for (std::size_t i = 0; i < elements; ++i) {
    if (x[i] == 0) continue;
    bitmap[i / 32] |= 1u << (i % 32);
    const SketchPlaces places = sketch_places(static_cast<std::uint32_t>(i), seed, columns);
    for (std::size_t row = 0; row < kSketchRows; ++row) {
      counters[places.counter[row]] += with_sign(x[i], places.sign[row]);
    }
  }
}

void estimate(const float* counters, std::size_t columns, std::uint64_t seed,
              const std::uint32_t* bitmap, std::size_t elements, float* x) {
  check_alignment(counters, bitmap, x);
  check_sketch_sizes(elements, columns);
  for (std::size_t i = 0; i < elements; ++i) {
    x[i] = 0;
    if ((bitmap[i / 32] >> (i % 32) & 1u) == 0) continue;
    const SketchPlaces places = sketch_places(static_cast<std::uint32_t>(i), seed, columns);
    x[i] = median(with_sign(counters[places.counter[0]], places.sign[0]),
                  with_sign(counters[places.counter[1]], places.sign[1]),
                  with_sign(counters[places.counter[2]], places.sign[2]));
  }
}

constexpr Sketch kCpu = {encode, estimate};

}  // namespace

const Sketch& sketch(DeviceKind kind) {
  return kind == DeviceKind::cuda ? cuda_sketch() : kCpu;
}

}  // namespace windtunnel
