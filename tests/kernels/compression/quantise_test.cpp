#include "kernels/compression/quantise.hpp"

#include "kernels/compression/quantise_words.cuh"
#include "models/base/error.hpp"
#include "tests/kernels/compression/quantise_properties.hpp"

namespace windtunnel {
namespace {

TEST(Quantise, CodesAndScalesAreThoseOfTheDefinition) {
  expect_plain_blocks_of_all_inputs(DeviceKind::cpu);
}

TEST(Quantise, RequantisedIsTheSumOfTheParts) {
  expect_requantised_sums(DeviceKind::cpu);
}

TEST(Quantise, RoundsToEven) {
  for (int i = -400; i <= 400; ++i) {
    const float x = static_cast<float>(i) / 4;
    EXPECT_EQ(static_cast<float>(rounded(x)), std::nearbyint(x)) << x;
  }
}

// What the CUDA form does with four codes, on the host.
TEST(Quantise, Int8ValuesAreThoseOfEachByte) {
  for (std::uint32_t code = 0; code < 256; ++code) {
    const std::uint32_t codes = code * 0x01010101U ^ 0x80ff5500U;
    const auto plain = [&](unsigned byte) {
      return bits_of(static_cast<float>(static_cast<std::int8_t>(codes >> (8 * byte))));
    };
    EXPECT_EQ(bits_of(int8_value<0>(codes)), plain(0)) << codes;
    EXPECT_EQ(bits_of(int8_value<1>(codes)), plain(1)) << codes;
    EXPECT_EQ(bits_of(int8_value<2>(codes)), plain(2)) << codes;
    EXPECT_EQ(bits_of(int8_value<3>(codes)), plain(3)) << codes;
  }
}

TEST(Quantise, E4m3IsTheNearestOfTheFormatsNumbers) {
  RandomStream random(5, RandomPurpose::test, 0);
  for (int i = 0; i < 200000; ++i) {
    const float x = static_cast<float>(
        std::ldexp(random.uniform() - 0.5, static_cast<int>(random.below(24)) - 13));
    ASSERT_EQ(bits_of(float_of_e4m3(e4m3_of(x))), bits_of(nearest_e4m3(x))) << x;
  }
  // This covers every number and the middle of every two neighbours.
  for (std::uint32_t code = 0; code < 126; ++code) {
    const float x = float_of_e4m3(code);
    const float middle = (x + float_of_e4m3(code + 1)) / 2;
    EXPECT_EQ(e4m3_of(x), code);
    EXPECT_EQ(e4m3_of(-x), code | 0x80u);
    EXPECT_EQ(e4m3_of(middle), code + code % 2) << middle;
    EXPECT_EQ(e4m3_of(std::nextafter(middle, 0.0F)), code) << middle;
    EXPECT_EQ(e4m3_of(std::nextafter(middle, 1e3F)), code + 1) << middle;
  }
  EXPECT_EQ(e4m3_of(449), 0x7eU);
  EXPECT_EQ(e4m3_of(1e30F), 0x7eU);
  EXPECT_EQ(float_of_e4m3(0x7e), 448);
  EXPECT_TRUE(std::isnan(float_of_e4m3(0x7f)));
  EXPECT_TRUE(std::isnan(float_of_e4m3(0xff)));
}

TEST(Quantise, Int4HasTheEvenElementInTheLowHalf) {
  Floats x(64);
  x[0] = 7;
  x[1] = -3;
  x[3] = -7;
  const QuantisedBlocks blocks = quantised(DeviceKind::cpu, QuantisedForm::int4, x);
  EXPECT_EQ(blocks.codes[0], 0xd7);
  EXPECT_EQ(blocks.codes[1], 0x90);
}

TEST(Quantise, RefusesWhatIsNotAligned) {
  const DeviceArray<float> x(DeviceKind::cpu, 8);
  const DeviceArray<std::uint8_t> codes(DeviceKind::cpu, 256);
  const DeviceArray<float> scales(DeviceKind::cpu, 1);
  const Quantise& kernels = quantise(DeviceKind::cpu);
  EXPECT_THROW(kernels.encode(QuantisedForm::int8, x.data() + 1, 4, codes.data(), scales.data()),
               InternalError);
  EXPECT_THROW(kernels.requantise(codes.data(), scales.data(), 0, 4, codes.data(), scales.data()),
               InternalError);
}

}  // namespace
}  // namespace windtunnel
