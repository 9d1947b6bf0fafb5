#include "kernels/code/galois_code.hpp"

#include <gtest/gtest.h>
#include <isa-l/erasure_code.h>

#include "kernels/code/galois_words.cuh"
#include "models/base/error.hpp"
#include "tests/kernels/code/galois_code_properties.hpp"

namespace windtunnel {
namespace {

TEST(GaloisCode, EncodesUpdatesAndRebuildsRandomCodes) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    expect_random_code(DeviceKind::cpu, seed);
    if (HasFatalFailure()) return;
  }
}

TEST(GaloisCode, MatrixIsIsalsCauchyMatrix) {
  for (const auto& [k, m] : {std::pair(1, 1), {4, 2}, {8, 4}, {10, 4}, {32, 8}, {200, 56}}) {
    const auto rows = static_cast<size_t>(k + m);
    std::vector<unsigned char> isal(rows * static_cast<size_t>(k));
    gf_gen_cauchy1_matrix(isal.data(), k + m, k);
    isal.erase(isal.begin(), isal.begin() + k * k);
    EXPECT_EQ(cauchy_parity(k, m).values, isal) << k << " + " << m;
  }
}

TEST(GaloisCode, ProductsAreIsals) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const auto x = static_cast<std::uint8_t>(a);
      const auto y = static_cast<std::uint8_t>(b);
      ASSERT_EQ(gf_multiply(x, y), gf_mul(x, y)) << a << " " << b;
    }
  }
}

std::uint32_t product_of_each_byte(std::uint32_t coefficient, std::uint32_t word) {
  std::uint32_t product = 0;
  for (int byte = 0; byte < 4; ++byte) {
    const auto value = static_cast<std::uint8_t>(word >> (8 * byte));
    product |= std::uint32_t{gf_multiply(static_cast<std::uint8_t>(coefficient), value)}
               << (8 * byte);
  }
  return product;
}

// Runs the CUDA form's arithmetic of one word on the host: each byte of the word takes every value
// once.
TEST(GaloisCode, LookedUpProductsAreProductsOfEachByte) {
  RandomStream random(7, RandomPurpose::test, 0);
  const auto random_word = [&] { return static_cast<std::uint32_t>(random.below(1ULL << 32)); };
  for (std::uint32_t coefficient = 0; coefficient < 256; ++coefficient) {
    const GaloisTable table = galois_table(coefficient);
    const std::uint32_t differences = random_word();
    for (std::uint32_t value = 0; value < 256; ++value) {
      const std::uint32_t word = value * 0x01010101U ^ differences;
      const std::uint32_t before = random_word();
      std::uint32_t sum = bytes_as_selected(before);
      add_galois_product(table, galois_selectors(word), sum);
      ASSERT_EQ(bytes_in_order(sum), before ^ product_of_each_byte(coefficient, word))
          << coefficient << " times " << word;
    }
  }
}

TEST(GaloisCode, RefusesCodesAndLossesThatCannotBe) {
  EXPECT_THROW(cauchy_parity(0, 2), Error);
  EXPECT_THROW(cauchy_parity(200, 57), Error);
  const GaloisMatrix parity = cauchy_parity(4, 2);
  EXPECT_THROW(rebuild_of(parity, {0, 1, 2}), Error);
  EXPECT_THROW(rebuild_of(parity, {6}), Error);
  EXPECT_THROW(rebuild_of(parity, {1, 1}), Error);
  std::byte block{};
  const std::byte* source = &block;
  std::byte* target = &block;
  const std::uint8_t one = 1;
  EXPECT_THROW(galois_code(DeviceKind::cpu).combine(&one, 1, &source, 0, &target, 1, false),
               InternalError);
}

}  // namespace
}  // namespace windtunnel
