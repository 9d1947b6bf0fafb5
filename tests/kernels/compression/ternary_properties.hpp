// What must hold of ternary codes on any device; one test file per device calls it.
#pragma once

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/compression/ternary.hpp"
#include "tests/kernels/compression/compressor_sizes.hpp"
#include "tests/kernels/device_array.hpp"
#include "tests/kernels/float_inputs.hpp"

namespace windtunnel {

struct TernaryResult {
  float maximum = 0;
  std::vector<std::uint32_t> words;
  Floats decoded;
};

inline TernaryResult ternary_of(DeviceKind kind, const Floats& x, std::uint64_t seed) {
  const DeviceArray<float> input(kind, x);
  const DeviceArray<float> maximum(kind, Floats{-1});
  const DeviceArray<std::uint32_t> words(
      kind, std::vector<std::uint32_t>(ternary_words(x.size()), 0xdeadbeefU));
  const DeviceArray<float> output(kind, x.size());
  const Ternary& kernels = ternary(kind);
  kernels.maximum(input.data(), x.size(), maximum.data());
  kernels.encode(input.data(), x.size(), maximum.data(), seed, words.data());
  kernels.decode(words.data(), x.size(), maximum.data(), output.data());
  device(kind).synchronize();
  return {maximum.download()[0], words.download(), output.download()};
}

// Random123's own generator, and probabilities in double.
inline int plain_ternary(float x, std::size_t i, std::uint64_t seed, float maximum) {
  const std::uint64_t quad = i / 4;
  const auto random = r123::Philox4x32()(
      {{static_cast<std::uint32_t>(quad), static_cast<std::uint32_t>(quad >> 32), 0, 0}},
      {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}});
  const double share = std::ldexp(static_cast<double>(random[i % 4] >> 8), -24);
  if (!(static_cast<float>(share * maximum) < std::abs(x))) return 0;
  return x < 0 ? -1 : 1;
}

inline void expect_ternary(DeviceKind kind, const Floats& x, std::uint64_t seed) {
  const TernaryResult result = ternary_of(kind, x, seed);
  bool finite = true;
  float largest = 0;
  for (const float value : x) {
    finite = finite && std::isfinite(value);
    largest = std::max(largest, std::abs(value));
  }
  if (!finite) {
    EXPECT_FALSE(std::isfinite(result.maximum));
    for (const float value : result.decoded) ASSERT_TRUE(std::isnan(value));
    for (const std::uint32_t word : result.words) ASSERT_EQ(word, 0U);
    return;
  }
  ASSERT_EQ(result.maximum, largest);
  std::vector<std::uint32_t> words(ternary_words(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const int code = plain_ternary(x[i], i, seed, largest);
    words[i / 16] |= (static_cast<std::uint32_t>(code) & 3U) << (2 * (i % 16));
    ASSERT_EQ(result.decoded[i], static_cast<float>(code) * largest) << "element " << i;
  }
  ASSERT_EQ(result.words, words);
}

inline void expect_ternary_of_all_inputs(DeviceKind kind) {
  RandomStream random(31, RandomPurpose::test, 0);
  for (const std::size_t size : compressor_sizes(random)) {
    for (const auto& [name, x] : kinds_of_floats(random, size)) {
      SCOPED_TRACE(::testing::Message() << size << " " << name);
      expect_ternary(kind, x, size * 0x123456789ULL);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace windtunnel
