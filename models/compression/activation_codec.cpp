#include "models/compression/activation_codec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "models/base/error.hpp"
#include "models/compression/compressors.hpp"
#include "models/compression/recipe_parts.hpp"

namespace windtunnel {
namespace {

// Elements of a token with a common scale if the method has no blocks: DeepSeek-V3's tiles of 1 x
// 128 (arXiv 2412.19437, section 3.3.2).
constexpr double kTile = 128;

std::vector<std::string_view> names_of_codecs() {
  std::vector<std::string_view> names;
  for (const CompressorKind& kind : compressor_kinds()) {
    if (kind.element_bits > 0) names.push_back(kind.name);
  }
  return names;
}

}  // namespace

Op ActivationCodec::encode(double elements, double element_bytes) const {
  return block_pass((element_bytes + bytes) * elements, 1, quantise);
}

Op ActivationCodec::decode(double elements, double element_bytes) const {
  return block_pass((bytes + element_bytes) * elements, 1, dequantise);
}

Op ActivationCodec::sum(double elements, double element_bytes, double ranks) const {
  return block_pass((bytes + element_bytes / ranks) * elements, 1, dequantise);
}

Op ActivationCodec::requantise(double elements, double ranks) const {
  return requantise_pass(bytes * elements, ranks);
}

std::optional<ActivationCodec> activation_codec(const CompressorChoice& choice) {
  if (!compresses(choice)) return std::nullopt;
  const CompressorKind& kind = compressor_kind(choice);
  if (kind.element_bits == 0) {
    throw Error(
        fmt::format("{} is made for gradients, because sums of gradients tolerate omitted "
                    "elements; activations need a compressor that quantises every element: {}",
                    kind.name, fmt::join(names_of_codecs(), ", ")));
  }
  const CompressorChoice full = with_usual(choice);
  const double bits = full.bits > 0 ? full.bits : kind.element_bits;
  const double block = full.block > 0 ? full.block : kTile;
  ActivationCodec codec{.bytes = bits / 8 + kScaleBytes / block};
  if (kind.name == "fp8") {
    codec.quantise = "quantise-fp8";
    codec.dequantise = "dequantise-fp8";
  } else {
    const QuantiseKernels kernels = quantise_kernels(bits);
    codec.quantise = kernels.quantise;
    codec.dequantise = kernels.dequantise;
  }
  return codec;
}

}  // namespace windtunnel
