#include "kernels/ternary.hpp"

#include <algorithm>

#include "kernels/alignment.hpp"
#include "kernels/cuda_entries.hpp"
#include "kernels/ternary_words.cuh"

namespace windtunnel {
namespace {

constexpr std::size_t kCodes = 16;  // of a word

void maximum(const float* x, std::size_t elements, float* maximum) {
  check_alignment(x);
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    largest = std::max(largest, static_cast<std::int32_t>(magnitude_bits(x[i])));
  }
  *maximum = float_of(static_cast<std::uint32_t>(largest));
}

void encode(const float* x, std::size_t elements, const float* maximum, std::uint64_t seed,
            std::uint32_t* words) {
  check_alignment(x, words);
  std::fill(words, words + ternary_words(elements), 0u);
  for (std::size_t first = 0; first < elements; first += 4) {
    const RandomWords random = philox(seed, first / 4);
    std::uint32_t codes = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(4, elements - first); ++i) {
      codes |= ternary_code(x[first + i], random.word[i], *maximum) << (2 * i);
    }
    words[first / kCodes] |= codes << (2 * (first % kCodes));
  }
}

void decode(const std::uint32_t* words, std::size_t elements, const float* maximum, float* x) {
  check_alignment(words, x);
  const float values[4] = {ternary_value(0, *maximum), ternary_value(1, *maximum),
                           ternary_value(2, *maximum), ternary_value(3, *maximum)};
  for (std::size_t i = 0; i < elements; ++i) {
    x[i] = values[(words[i / kCodes] >> (2 * (i % kCodes))) & 3u];
  }
}

constexpr Ternary kCpu = {maximum, encode, decode};

}  // namespace

const Ternary& ternary(DeviceKind kind) {
  return kind == DeviceKind::cuda ? cuda_ternary() : kCpu;
}

}  // namespace windtunnel
