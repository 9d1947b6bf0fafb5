#include "models/reliability/galois.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

// In this field x^7 * x = x^8 = x^4 + x^3 + x^2 + 1, and (x + 1)(x^2 + x + 1) = x^3 + 1 without
// carries. 2 generates the field (H. P. Anvin, "The mathematics of RAID-6", section 2): its powers
// are all 255 numbers except 0.
TEST(Galois, IsTheFieldOfRaid6) {
  EXPECT_EQ(gf_multiply(0x80, 2), 0x1d);
  EXPECT_EQ(gf_multiply(3, 7), 9);
  std::vector<bool> seen(256, false);
  std::uint8_t power = 1;
  for (int i = 0; i < 255; ++i) {
    EXPECT_FALSE(seen[power]);
    seen[power] = true;
    EXPECT_EQ(gf_multiply(power, gf_inverse(power)), 1);
    power = gf_multiply(power, 2);
  }
  EXPECT_EQ(power, 1);
  EXPECT_FALSE(seen[0]);
}

// Any four of 4 + 2 blocks give all six.
TEST(Galois, AnyKOfTheBlocksGiveBackAll) {
  constexpr int kData = 4;
  constexpr int kParity = 2;
  const GaloisMatrix parity = cauchy_parity(kData, kParity);
  std::vector<std::uint8_t> blocks = {0x00, 0x5a, 0xff, 0x13};
  for (int i = 0; i < kParity; ++i) {
    std::uint8_t sum = 0;
    for (int j = 0; j < kData; ++j) sum ^= gf_multiply(parity.at(i, j), blocks[j]);
    blocks.push_back(sum);
  }
  for (int a = 0; a < kData + kParity; ++a) {
    for (int b = 0; b < a; ++b) {
      const Rebuild rebuild = rebuild_of(parity, {a, b});
      for (int i = 0; i < 2; ++i) {
        std::uint8_t sum = 0;
        for (int j = 0; j < kData; ++j) {
          ASSERT_NE(rebuild.sources[j], a);
          ASSERT_NE(rebuild.sources[j], b);
          sum ^= gf_multiply(rebuild.coefficients.at(i, j), blocks[rebuild.sources[j]]);
        }
        EXPECT_EQ(sum, blocks[i == 0 ? a : b]) << a << " " << b;
      }
    }
  }
}

}  // namespace
}  // namespace windtunnel
