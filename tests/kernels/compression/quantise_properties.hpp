// What must hold of quantised blocks on any device; one test file per device calls it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/compression/quantise.hpp"
#include "tests/kernels/compression/compressor_sizes.hpp"
#include "tests/kernels/device_array.hpp"
#include "tests/kernels/float_inputs.hpp"

namespace windtunnel {

constexpr QuantisedForm kForms[] = {QuantisedForm::int8, QuantisedForm::int4, QuantisedForm::fp8};

inline float largest_code(QuantisedForm form) {
  if (form == QuantisedForm::int8) return 127;
  return form == QuantisedForm::int4 ? 7 : 448;
}

// Searches all 127 magnitudes, as the format defines it: the nearest wins, and the even code if two
// are equally near.
inline float nearest_e4m3(float x) {
  float best = 0;
  double distance = std::abs(static_cast<double>(x));
  for (int code = 1; code < 127; ++code) {
    const int exponent = code / 8;
    const double value =
        exponent == 0 ? std::ldexp(code, -9) : std::ldexp(8 + code % 8, exponent - 10);
    const double away = std::abs(std::abs(static_cast<double>(x)) - value);
    if (away < distance || (away == distance && code % 2 == 0)) {
      best = static_cast<float>(value);
      distance = away;
    }
  }
  return std::copysign(best, x);
}

struct PlainBlocks {
  Floats scales;
  Floats codes;  // integer codes as floats, padded to whole blocks
  Floats decoded;
};

inline PlainBlocks plainly_quantised(QuantisedForm form, const Floats& x) {
  PlainBlocks plain;
  const std::size_t block = quantised_block_elements(form);
  for (std::size_t start = 0; start < x.size(); start += block) {
    const std::size_t end = std::min(start + block, x.size());
    float largest = 0;
    bool finite = true;
    for (std::size_t i = start; i < end; ++i) {
      finite = finite && std::isfinite(x[i]);
      largest = std::max(largest, std::abs(x[i]));
    }
    float scale = largest / largest_code(form);
    if (scale < std::numeric_limits<float>::min()) scale = 0;
    if (!finite) scale = std::numeric_limits<float>::quiet_NaN();
    plain.scales.push_back(scale);
    for (std::size_t i = start; i < start + block; ++i) {
      float code = 0;
      if (i < end && finite && scale > 0) {
        const float scaled = x[i] * (1 / scale);
        code = form == QuantisedForm::fp8 ? nearest_e4m3(scaled) : std::nearbyint(scaled);
      }
      plain.codes.push_back(code);
      if (i < end) plain.decoded.push_back(code * scale);
    }
  }
  return plain;
}

struct QuantisedBlocks {
  std::vector<std::uint8_t> codes;
  Floats scales;
  Floats decoded;
};

inline QuantisedBlocks quantised(DeviceKind kind, QuantisedForm form, const Floats& x) {
  const DeviceArray<float> input(kind, x);
  const DeviceArray<std::uint8_t> codes(kind, code_bytes(form, x.size()));
  const DeviceArray<float> scales(kind, quantised_blocks(form, x.size()));
  const DeviceArray<float> output(kind, x.size());
  const Quantise& kernels = quantise(kind);
  kernels.encode(form, input.data(), x.size(), codes.data(), scales.data());
  kernels.decode(form, codes.data(), scales.data(), x.size(), output.data());
  device(kind).synchronize();
  return {codes.download(), scales.download(), output.download()};
}

// Elements are off by half a step, and by roundings of fp32 where the sum is as large as a code.
inline void expect_error_within_bound(QuantisedForm form, const Floats& x,
                                      const QuantisedBlocks& blocks) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float scale = blocks.scales[i / quantised_block_elements(form)];
    if (std::isnan(scale)) {
      ASSERT_TRUE(std::isnan(blocks.decoded[i]));
      continue;
    }
    const double off = std::abs(static_cast<double>(x[i]) - blocks.decoded[i]);
    const double magnitude = std::abs(static_cast<double>(x[i]));
    const double step = form == QuantisedForm::fp8
                            ? std::max(magnitude / 16, static_cast<double>(scale) / 1024)
                            : scale / 2.0;
    const double lost = scale == 0 ? largest_code(form) * 1.18e-38 : 0;
    ASSERT_LE(off, step + magnitude * 0x1p-21 + lost) << "element " << i << " of " << x[i];
  }
}

inline void expect_plain_blocks(DeviceKind kind, QuantisedForm form, const Floats& x) {
  const QuantisedBlocks blocks = quantised(kind, form, x);
  const PlainBlocks plain = plainly_quantised(form, x);
  expect_same(blocks.scales, plain.scales);
  // Integer forms decode -0 as 0, so that signs of zero are not compared.
  ASSERT_EQ(blocks.decoded.size(), plain.decoded.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(plain.decoded[i]) && std::isnan(blocks.decoded[i])) continue;
    ASSERT_EQ(blocks.decoded[i], plain.decoded[i]) << "element " << i << " of " << x[i];
  }
  if (form == QuantisedForm::int8) {
    for (std::size_t i = 0; i < plain.codes.size(); ++i) {
      ASSERT_EQ(static_cast<std::int8_t>(blocks.codes[i]), plain.codes[i]);
    }
  }
  expect_error_within_bound(form, x, blocks);
}

inline void expect_plain_blocks_of_all_inputs(DeviceKind kind) {
  RandomStream random(11, RandomPurpose::test, 0);
  for (const std::size_t size : compressor_sizes(random)) {
    for (const auto& [name, x] : kinds_of_floats(random, size)) {
      for (const QuantisedForm form : kForms) {
        SCOPED_TRACE(::testing::Message()
                     << size << " " << name << ", form " << static_cast<int>(form));
        expect_plain_blocks(kind, form, x);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

// Compares with the sum of the decoded parts, encoded by the same kernels.
inline void expect_requantised_sum(DeviceKind kind, RandomStream& random, std::size_t size,
                                   int parts, bool finite) {
  constexpr QuantisedForm kForm = QuantisedForm::int8;
  Floats sum(quantised_blocks(kForm, size) * quantised_block_elements(kForm));
  std::vector<std::uint8_t> codes;
  Floats scales;
  for (int part = 0; part < parts; ++part) {
    Floats x = random_floats(random, size);
    if (!finite) x[random.below(size)] = std::numeric_limits<float>::infinity();
    x.resize(sum.size());
    const QuantisedBlocks blocks = quantised(kind, kForm, x);
    codes.insert(codes.end(), blocks.codes.begin(), blocks.codes.end());
    scales.insert(scales.end(), blocks.scales.begin(), blocks.scales.end());
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const float term = blocks.decoded[i];
      sum[i] += term;
    }
  }
  const DeviceArray<std::uint8_t> in_codes(kind, codes);
  const DeviceArray<float> in_scales(kind, scales);
  const DeviceArray<std::uint8_t> out_codes(kind, code_bytes(kForm, size));
  const DeviceArray<float> out_scales(kind, quantised_blocks(kForm, size));
  quantise(kind).requantise(in_codes.data(), in_scales.data(), parts, size, out_codes.data(),
                            out_scales.data());
  device(kind).synchronize();
  const QuantisedBlocks expected = quantised(kind, kForm, sum);
  ASSERT_EQ(out_codes.download(), expected.codes);
  expect_same(out_scales.download(), expected.scales);
}

inline void expect_requantised_sums(DeviceKind kind) {
  RandomStream random(12, RandomPurpose::test, 0);
  for (const std::size_t size : {1, 255, 256, 257, 512, 769, 5000, 40000}) {
    for (const int parts : {1, 2, 3, 4, 5, 8, 17}) {
      SCOPED_TRACE(::testing::Message() << size << " elements, " << parts << " parts");
      expect_requantised_sum(kind, random, size, parts, true);
      expect_requantised_sum(kind, random, size, parts, false);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace windtunnel
