// Keys that order elements as a selection takes them, and their digits; for both forms of
// kernels/compression/top_k.hpp.
#pragma once

#include <cstddef>

#include "kernels/device/number_words.cuh"
#include "kernels/device/philox.cuh"

namespace windtunnel {

// 31 bits of |x|, then 32 of the index, the lowest first: no two keys are equal.
WINDTUNNEL_BOTH inline std::uint64_t selection_key(float x, std::uint32_t index) {
  return (static_cast<std::uint64_t>(magnitude_bits(x)) << 32) | ~index;
}
WINDTUNNEL_BOTH inline std::uint32_t index_of_key(std::uint64_t key) {
  return ~static_cast<std::uint32_t>(key);
}

constexpr int kKeyBits = 63;
constexpr int kDigitBits = 12;  // of the first digit: exponent and 4 bits of mantissa
constexpr std::uint32_t kDigitBins = 1u << kDigitBits;

// Element `part` of k by a seed.
WINDTUNNEL_BOTH inline std::uint32_t random_index(std::uint64_t part, std::uint64_t elements,
                                                  std::uint64_t k, std::uint64_t seed) {
  const std::uint64_t first = part * elements / k;  // both are below 2^32
  const std::uint64_t end = (part + 1) * elements / k;
  const std::uint32_t word = philox(seed, part).word[0];
  return static_cast<std::uint32_t>(first) + below(word, static_cast<std::uint32_t>(end - first));
}

}  // namespace windtunnel
