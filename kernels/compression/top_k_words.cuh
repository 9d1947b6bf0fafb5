// Sort keys for a selection, and their digits, for CPU and CUDA (kernels/compression/top_k.hpp).
#pragma once

#include <cstddef>

#include "kernels/device/number_words.cuh"
#include "kernels/device/philox.cuh"

namespace windtunnel {

// 31 bits of |x| above 32 bits of the inverted index, so that keys are distinct and lower indices
// win.
WINDTUNNEL_BOTH inline std::uint64_t selection_key(float x, std::uint32_t index) {
  return (static_cast<std::uint64_t>(magnitude_bits(x)) << 32) | ~index;
}
WINDTUNNEL_BOTH inline std::uint32_t index_of_key(std::uint64_t key) {
  return ~static_cast<std::uint32_t>(key);
}

constexpr int kKeyBits = 63;
constexpr int kDigitBits = 12;  // the first digit: exponent and 4 bits of mantissa
constexpr std::uint32_t kDigitBins = 1u << kDigitBits;

// This is the index drawn from part `part` of k.
WINDTUNNEL_BOTH inline std::uint32_t random_index(std::uint64_t part, std::uint64_t elements,
                                                  std::uint64_t k, std::uint64_t seed) {
  const std::uint64_t first = part * elements / k;  // both factors are below 2^32
  const std::uint64_t end = (part + 1) * elements / k;
  const std::uint32_t word = philox(seed, part).word[0];
  return static_cast<std::uint32_t>(first) + below(word, static_cast<std::uint32_t>(end - first));
}

}  // namespace windtunnel
