// These are the counters of an element, and the estimate from three counters, for CPU and CUDA
// (kernels/compression/sketch.hpp).
#pragma once

#include <cstddef>

#include "kernels/compression/sketch.hpp"
#include "kernels/device/number_words.cuh"
#include "kernels/device/philox.cuh"
#include "models/base/error.hpp"

namespace windtunnel {

struct SketchPlaces {
  std::size_t counter[kSketchRows];
  std::uint32_t sign[kSketchRows];  // the sign bit of a float
};

WINDTUNNEL_BOTH inline SketchPlaces sketch_places(std::uint32_t index, std::uint64_t seed,
                                                  std::size_t columns) {
  const RandomWords random = philox(seed, index);
  SketchPlaces places = {};
  for (unsigned row = 0; row < kSketchRows; ++row) {
    places.counter[row] =
        row * columns + below(random.word[row], static_cast<std::uint32_t>(columns));
    places.sign[row] = (random.word[3] >> row & 1u) << 31;
  }
  return places;
}

WINDTUNNEL_BOTH inline float with_sign(float x, std::uint32_t sign) {
  return float_of(bits_of(x) ^ sign);
}

// Uses only comparisons, so that the result is always one of the three values.
WINDTUNNEL_BOTH inline float median(float a, float b, float c) {
  const float low = b < a ? b : a;
  const float high = b < a ? a : b;
  if (c < low) return low;
  return high < c ? high : c;
}

// Indices have 32 bits.
inline void check_sketch_sizes(std::size_t elements, std::size_t columns) {
  constexpr std::size_t kEnd = std::size_t{1} << 32;
  CHECK(elements < kEnd && columns >= 1 && columns < kEnd, "{} elements in {} columns", elements,
        columns);
}

}  // namespace windtunnel
