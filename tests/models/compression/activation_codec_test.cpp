#include "models/compression/activation_codec.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"
#include "models/compression/compressors.hpp"
#include "models/compression/recipe.hpp"

namespace windtunnel {
namespace {

ActivationCodec codec_of(const std::string& name) {
  return *activation_codec({.name = name});
}

TEST(ActivationCodec, BytesOfAnElementWithItsShareOfAScale) {
  EXPECT_DOUBLE_EQ(codec_of("fp8").bytes, 1 + 4.0 / 128);
  EXPECT_DOUBLE_EQ(codec_of("int8").bytes, 1 + 4.0 / 256);
  EXPECT_DOUBLE_EQ(codec_of("int6").bytes, 0.75 + 4.0 / 32);
  EXPECT_DOUBLE_EQ(codec_of("int4").bytes, 0.5 + 4.0 / 32);
  EXPECT_DOUBLE_EQ(activation_codec({.name = "qsgd", .bits = 2, .block = 64})->bytes,
                   0.25 + 4.0 / 64);
  EXPECT_FALSE(activation_codec({}));
}

TEST(ActivationCodec, WhatIsMadeForGradientsIsRefused) {
  int refused = 0;
  for (const CompressorKind& kind : compressor_kinds()) {
    if (kind.name == "none" || kind.element_bits > 0) continue;
    EXPECT_THROW(activation_codec({.name = std::string(kind.name)}), Error) << kind.name;
    ++refused;
  }
  EXPECT_GT(refused, 15);
}

// An all-reduce packs, sums, packs again and unpacks, as in the gradients' recipe of the same
// method.
TEST(ActivationCodec, AnAllReduceMovesWhatTheRecipeOfGradientsMoves) {
  const TensorShape tensor{.rows = 4096, .columns = 1024};
  const double n = tensor.elements();
  for (const char* name : {"int8", "int6", "int4", "qsgd"}) {
    for (const int ranks : {2, 8}) {
      const ActivationCodec codec = codec_of(name);
      const Recipe recipe = make_recipe({.name = name}, {&tensor, 1}, {.ranks = ranks}, 2);
      EXPECT_DOUBLE_EQ(
          codec.encode(n, 2).bytes + codec.requantise(n, ranks).bytes + codec.decode(n, 2).bytes,
          kernel_bytes(recipe));
      EXPECT_DOUBLE_EQ(codec.bytes * n, recipe.steps.at(0).bytes);
      EXPECT_EQ(codec.encode(n, 2).kernel, recipe.steps.at(0).kernels.at(0).kernel);
      EXPECT_EQ(codec.decode(n, 2).kernel, recipe.steps.at(2).kernels.at(0).kernel);
    }
  }
}

// The sum reads the packed parts of four ranks and writes one rank's part unpacked, in 16 bits.
TEST(ActivationCodec, ASumReadsAllPartsAndWritesOne) {
  EXPECT_DOUBLE_EQ(codec_of("fp8").sum(1024, 2, 4).bytes, 1024 * (1 + 4.0 / 128) + 1024 * 2 / 4);
}

}  // namespace
}  // namespace windtunnel
