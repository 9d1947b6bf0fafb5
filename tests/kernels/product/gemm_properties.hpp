// What must hold of matrix products on any device; one test file per device calls it.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/product/gemm.hpp"
#include "models/base/error.hpp"
#include "models/base/random.hpp"

namespace windtunnel {

// The numbers of bits of a floating-point format; one more is the sign.
struct FloatFormat {
  int exponent_bits, mantissa_bits;
};

inline FloatFormat in_format(GemmType type) {
  if (type == GemmType::fp16) return {5, 10};
  if (type == GemmType::bf16) return {8, 7};
  if (type == GemmType::fp8) return {4, 3};
  return {8, 23};
}
inline FloatFormat out_format(GemmType type) {
  return type == GemmType::fp8 ? FloatFormat{8, 7} : in_format(type);
}

// Encodes zero, and normal numbers that the format holds exactly.
inline std::uint32_t encoded(double value, FloatFormat format) {
  if (value == 0) return 0;
  const int exponent = std::ilogb(value);
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const auto mantissa = static_cast<std::uint32_t>(
      std::scalbn(std::abs(std::scalbn(value, -exponent)) - 1, format.mantissa_bits));
  const std::uint32_t sign = value < 0 ? 1 : 0;
  return (sign << (format.exponent_bits + format.mantissa_bits)) |
         (static_cast<std::uint32_t>(exponent + bias) << format.mantissa_bits) | mantissa;
}
inline double decoded(std::uint32_t bits, FloatFormat format) {
  const std::uint32_t mantissa = bits & ((1U << format.mantissa_bits) - 1);
  const std::uint32_t exponent =
      (bits >> format.mantissa_bits) & ((1U << format.exponent_bits) - 1);
  if (exponent == 0 && mantissa == 0) return 0;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const double size = std::scalbn(1 + std::scalbn(mantissa, -format.mantissa_bits),
                                  static_cast<int>(exponent) - bias);
  return (bits >> (format.exponent_bits + format.mantissa_bits)) != 0 ? -size : size;
}

inline std::vector<std::byte> encoded_all(const std::vector<int>& values, FloatFormat format,
                                          std::size_t bytes_each) {
  std::vector<std::byte> bytes(values.size() * bytes_each);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t bits = encoded(values[i], format);
    std::memcpy(bytes.data() + i * bytes_each, &bits, bytes_each);  // little-endian
  }
  return bytes;
}

inline std::vector<int> turned(const std::vector<int>& matrix, std::size_t rows,
                               std::size_t columns) {
  std::vector<int> result(matrix.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) result[j * rows + i] = matrix[i * columns + j];
  }
  return result;
}

// Numbers -1, 0 and 1: up to k = 256 every partial sum is exact in every type, so the product must
// be too, in any order of its sums.
inline void expect_product(DeviceKind kind, GemmWork work, std::uint64_t seed) {
  SCOPED_TRACE(::testing::Message()
               << "type " << static_cast<int>(work.type) << ", " << work.m << " x " << work.n
               << " x " << work.k << ", turned: " << work.transposed_a << work.transposed_b);
  ASSERT_LE(work.k, 256);
  RandomStream random(seed, RandomPurpose::test, 0);
  const auto m = static_cast<std::size_t>(work.m);
  const auto n = static_cast<std::size_t>(work.n);
  const auto k = static_cast<std::size_t>(work.k);
  std::vector<int> left(m * k), right(k * n);
  for (int& value : left) value = static_cast<int>(random.below(3)) - 1;
  for (int& value : right) value = static_cast<int>(random.below(3)) - 1;
  const bool right_turned = work.type == GemmType::fp8 || work.transposed_b;
  const std::vector<int> stored_left = work.transposed_a ? turned(left, m, k) : left;
  const std::vector<int> stored = right_turned ? turned(right, k, n) : right;
  const Device& where = device(kind);
  const std::size_t in_bytes = gemm_in_bytes(work.type);
  const std::size_t out_bytes = gemm_out_bytes(work.type);
  DeviceBuffer a(where, left.size() * in_bytes);
  DeviceBuffer b(where, right.size() * in_bytes);
  DeviceBuffer c(where, m * n * out_bytes);
  a.upload(encoded_all(stored_left, in_format(work.type), in_bytes));
  b.upload(encoded_all(stored, in_format(work.type), in_bytes));
  c.upload(std::vector<std::byte>(m * n * out_bytes, std::byte{0xff}));  // NaN must be overwritten
  work.a = a.data();
  work.b = b.data();
  work.c = c.data();
  gemm(kind).prepared(work)();
  where.synchronize();
  const std::vector<std::byte> result = c.download();
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      int expected = 0;
      for (std::size_t l = 0; l < k; ++l) expected += left[i * k + l] * right[l * n + j];
      std::uint32_t bits = 0;
      std::memcpy(&bits, result.data() + (i * n + j) * out_bytes, out_bytes);
      ASSERT_EQ(decoded(bits, out_format(work.type)), expected) << i << ", " << j;
    }
  }
}

inline void expect_products(DeviceKind kind, GemmType type) {
  RandomStream random(5, RandomPurpose::test, static_cast<std::uint64_t>(type));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto size = [&](int most) {
      const int any = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(most)));
      return type == GemmType::fp8 ? (any + 15) / 16 * 16 : any;
    };
    GemmWork work{type, size(200), size(200), size(256)};
    if (type != GemmType::fp8) {
      work.transposed_a = seed % 2 == 1;
      work.transposed_b = seed / 2 % 2 == 1;
    }
    expect_product(kind, work, seed);
    if (::testing::Test::HasFatalFailure()) return;
  }
  expect_product(kind, {type, 64, 128, 32, nullptr, nullptr, nullptr, kUsualProposals}, 99);
}

}  // namespace windtunnel
