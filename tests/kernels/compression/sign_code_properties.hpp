// What must hold of packed signs on any device; one test file per device calls it.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/compression/sign_code.hpp"
#include "tests/kernels/compression/compressor_sizes.hpp"
#include "tests/kernels/device_array.hpp"
#include "tests/kernels/float_inputs.hpp"

namespace windtunnel {

using Words = std::vector<std::uint32_t>;

inline Words plain_signs(const Floats& x) {
  Words words(sign_words(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] >= 0) words[i / 32] |= 1U << (i % 32);
  }
  return words;
}

// Outputs begin with junk, so that words which a kernel does not write are found.
inline DeviceArray<std::uint32_t> stale_words(DeviceKind kind, std::size_t size) {
  return {kind, Words(size, 0xdeadbeefU)};
}

inline void expect_packs_and_unpacks(DeviceKind kind, const Floats& x) {
  const DeviceArray<float> input(kind, x);
  const auto words = stale_words(kind, sign_words(x.size()));
  const DeviceArray<float> output(kind, x.size());
  const double magnitude = 3.5 * static_cast<double>(x.size());
  const DeviceArray<double> scale(kind, std::vector<double>{magnitude});
  sign_code(kind).pack(input.data(), x.size(), words.data());
  sign_code(kind).unpack(words.data(), x.size(), scale.data(), output.data());
  device(kind).synchronize();
  ASSERT_EQ(words.download(), plain_signs(x));
  const Floats decoded = output.download();
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(decoded[i], x[i] >= 0 ? 3.5F : -3.5F);
}

inline void expect_sum(double sum, const Floats& values) {
  long double expected = 0;
  for (const float value : values) expected += std::abs(value);
  if (!std::isfinite(static_cast<double>(expected))) {
    EXPECT_FALSE(std::isfinite(sum));
    return;
  }
  EXPECT_NEAR(sum, static_cast<double>(expected),
              static_cast<double>(expected) * 0x1p-53 * static_cast<double>(values.size() + 1));
}

// Runs two steps: magnitude() gives the scale of the first, and the first step gives the scale of
// the second.
inline void expect_error_feedback(DeviceKind kind, RandomStream& random, const Floats& gradient) {
  const std::size_t size = gradient.size();
  const Floats start = random_floats(random, size);
  const DeviceArray<float> input(kind, gradient);
  const DeviceArray<float> error(kind, start);
  const auto words = stale_words(kind, sign_words(size));
  const DeviceArray<double> sums(kind, std::vector<double>{-1, -1});
  const SignCode& kernels = sign_code(kind);
  Floats expected = start;
  kernels.magnitude(input.data(), error.data(), size, sums.data());
  for (int step = 0; step < 2; ++step) {
    kernels.error(input.data(), size, sums.data() + step, error.data(), words.data(),
                  sums.data() + 1 - step);
    device(kind).synchronize();
    const std::vector<double> told = sums.download();
    const double before = told[static_cast<std::size_t>(step)];
    const float scale = static_cast<float>(before / static_cast<double>(size));
    for (std::size_t i = 0; i < size; ++i) expected[i] += gradient[i];
    ASSERT_EQ(words.download(), plain_signs(expected));
    expect_sum(told[static_cast<std::size_t>(1 - step)], expected);
    if (step == 0) expect_sum(before, expected);
    for (float& value : expected) value -= value >= 0 ? scale : -scale;
    expect_same(error.download(), expected);
  }
}

inline void expect_signs_of_all_inputs(DeviceKind kind) {
  RandomStream random(21, RandomPurpose::test, 0);
  for (const std::size_t size : compressor_sizes(random)) {
    for (const auto& [name, x] : kinds_of_floats(random, size)) {
      SCOPED_TRACE(::testing::Message() << size << " " << name);
      expect_packs_and_unpacks(kind, x);
      if (size > 0) expect_error_feedback(kind, random, x);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

inline void expect_vote(DeviceKind kind, RandomStream& random, std::size_t size, int parts) {
  Words all;
  std::vector<int> ayes(size);
  for (int part = 0; part < parts; ++part) {
    const Words words = plain_signs(random_floats(random, size));
    for (std::size_t i = 0; i < size; ++i) {
      ayes[i] += static_cast<int>((words[i / 32] >> (i % 32)) & 1U);
    }
    all.insert(all.end(), words.begin(), words.end());
  }
  Words expected(sign_words(size));
  for (std::size_t i = 0; i < size; ++i) {
    if (2 * ayes[i] >= parts) expected[i / 32] |= 1U << (i % 32);
  }
  const DeviceArray<std::uint32_t> input(kind, all);
  const auto output = stale_words(kind, sign_words(size));
  sign_code(kind).vote(input.data(), parts, size, output.data());
  device(kind).synchronize();
  ASSERT_EQ(output.download(), expected) << size << " elements, " << parts << " parts";
}

// Numbers of voters lie around powers of two, where counters need another bit.
inline void expect_votes(DeviceKind kind) {
  RandomStream random(22, RandomPurpose::test, 0);
  for (const int parts : {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 64, 255, 256, 1023, 1024, 1025}) {
    for (const std::size_t size : {1, 127, 129, 1000}) {
      expect_vote(kind, random, size, parts);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace windtunnel
