#include "kernels/compression/ternary.hpp"

#include <algorithm>

#include "kernels/compression/ternary_words.cuh"
#include "kernels/device/alignment.hpp"
#include "kernels/device/cuda_entries.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kCodes = 16;  // per word

void maximum(const float* x, std::size_t elements, float* maximum) {
  check_alignment(x);
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    largest = std::max(largest, static_cast<std::int32_t>(magnitude_bits(x[i])));
  }
  *maximum = float_of(static_cast<std::uint32_t>(largest));
}

// Branch-free: whether an element is sent is random, so a branch would be mispredicted.
std::uint32_t code_of(float x, std::uint32_t random, float maximum) {
  const float share = static_cast<float>(static_cast<std::int32_t>(random >> 8)) * 0x1p-24f;
  const std::uint32_t sent = share * maximum < float_of(magnitude_bits(x)) ? 1u : 0u;
  // An element that is sent is neither zero nor NaN, so its sign bit tells whether it is negative.
  return sent | (sent & (bits_of(x) >> 31)) << 1;
}

// The codes of a word. Random words are made first, so that the loops vectorise.
std::uint32_t full_word(const float* x, std::uint64_t first, std::uint64_t seed, float maximum) {
  std::uint32_t random[kCodes];
  for (std::size_t i = 0; i < kCodes; i += 4) {
    const RandomWords words = philox(seed, (first + i) / 4);
    std::copy(words.word, words.word + 4, random + i);
  }
  std::uint32_t codes = 0;
  for (std::uint32_t i = 0; i < kCodes; ++i) codes |= code_of(x[i], random[i], maximum) << (2 * i);
  return codes;
}

void encode(const float* x, std::size_t elements, const float* maximum, std::uint64_t seed,
            std::uint32_t* words) {
  check_alignment(x, words);
  const std::size_t whole = elements / kCodes;
  for (std::size_t w = 0; w < whole; ++w) {
    words[w] = full_word(x + w * kCodes, w * kCodes, seed, *maximum);
  }
  std::fill(words + whole, words + ternary_words(elements), 0u);
  if (whole * kCodes == elements) return;
  float rest[kCodes] = {};  // zeros are not sent
  std::copy(x + whole * kCodes, x + elements, rest);
  words[whole] = full_word(rest, whole * kCodes, seed, *maximum);
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
