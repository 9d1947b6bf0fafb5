#include "kernels/compression/quantise.hpp"

#include <algorithm>

#include "kernels/compression/quantise_words.cuh"
#include "kernels/device/alignment.hpp"
#include "kernels/device/cuda_entries.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kInt8Block = quantised_block_elements(QuantisedForm::int8);

// Without the sign bit, the bits of floats sort like integers. They are compared as signed
// integers, because every vector unit can compare these.
template <std::size_t kSize>
std::uint32_t largest_magnitude(const float* x) {
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < kSize; ++i) {
    largest = std::max(largest, static_cast<std::int32_t>(magnitude_bits(x[i])));
  }
  return static_cast<std::uint32_t>(largest);
}

template <QuantisedForm kForm>
float encode_block(const float* x, std::uint8_t* codes) {
  using C = Codec<kForm>;
  constexpr std::size_t kBlock = quantised_block_elements(kForm);
  const BlockScale scale = block_scale(largest_magnitude<kBlock>(x), C::kLargest);
  if (!scale.finite) {
    std::fill(codes, codes + kBlock * C::kBits / 8, std::uint8_t{0});
    return scale.scale;
  }
  if constexpr (C::kBits == 8) {
    for (std::size_t i = 0; i < kBlock; ++i) {
      codes[i] = static_cast<std::uint8_t>(C::code(x[i] * scale.inverse));
    }
  } else {
    for (std::size_t i = 0; i < kBlock / 2; ++i) {
      codes[i] = static_cast<std::uint8_t>(C::code(x[2 * i] * scale.inverse) |
                                           C::code(x[2 * i + 1] * scale.inverse) << 4);
    }
  }
  return scale.scale;
}

template <QuantisedForm kForm>
void decode_block(const std::uint8_t* codes, float scale, float* x) {
  using C = Codec<kForm>;
  constexpr std::size_t kBlock = quantised_block_elements(kForm);
  if constexpr (C::kBits == 8) {
    for (std::size_t i = 0; i < kBlock; ++i) x[i] = scaled_value(C::value(codes[i]), scale);
  } else {
    for (std::size_t i = 0; i < kBlock / 2; ++i) {
      x[2 * i] = scaled_value(C::value(codes[i]), scale);
      x[2 * i + 1] = scaled_value(C::value(std::uint32_t{codes[i]} >> 4), scale);
    }
  }
}

template <QuantisedForm kForm>
void encode_form(const float* x, std::size_t elements, std::uint8_t* codes, float* scales) {
  constexpr std::size_t kBlock = quantised_block_elements(kForm);
  constexpr std::size_t kBytes = code_bytes(kForm, kBlock);
  const std::size_t whole = elements / kBlock;
  for (std::size_t b = 0; b < whole; ++b) {
    scales[b] = encode_block<kForm>(x + b * kBlock, codes + b * kBytes);
  }
  if (elements % kBlock > 0) {
    float last[kBlock] = {};
    std::copy(x + whole * kBlock, x + elements, last);
    scales[whole] = encode_block<kForm>(last, codes + whole * kBytes);
  }
}

template <QuantisedForm kForm>
void decode_form(const std::uint8_t* codes, const float* scales, std::size_t elements, float* x) {
  constexpr std::size_t kBlock = quantised_block_elements(kForm);
  constexpr std::size_t kBytes = code_bytes(kForm, kBlock);
  const std::size_t whole = elements / kBlock;
  for (std::size_t b = 0; b < whole; ++b) {
    decode_block<kForm>(codes + b * kBytes, scales[b], x + b * kBlock);
  }
  if (elements % kBlock > 0) {
    float last[kBlock];
    decode_block<kForm>(codes + whole * kBytes, scales[whole], last);
    std::copy(last, last + elements % kBlock, x + whole * kBlock);
  }
}

void encode(QuantisedForm form, const float* x, std::size_t elements, std::uint8_t* codes,
            float* scales) {
  check_alignment(x, codes, scales);
  if (form == QuantisedForm::int8) encode_form<QuantisedForm::int8>(x, elements, codes, scales);
  if (form == QuantisedForm::int4) encode_form<QuantisedForm::int4>(x, elements, codes, scales);
  if (form == QuantisedForm::fp8) encode_form<QuantisedForm::fp8>(x, elements, codes, scales);
}

void decode(QuantisedForm form, const std::uint8_t* codes, const float* scales,
            std::size_t elements, float* x) {
  check_alignment(x, codes, scales);
  if (form == QuantisedForm::int8) decode_form<QuantisedForm::int8>(codes, scales, elements, x);
  if (form == QuantisedForm::int4) decode_form<QuantisedForm::int4>(codes, scales, elements, x);
  if (form == QuantisedForm::fp8) decode_form<QuantisedForm::fp8>(codes, scales, elements, x);
}

void requantise(const std::uint8_t* codes, const float* scales, int parts, std::size_t elements,
                std::uint8_t* sum_codes, float* sum_scales) {
  using C = Codec<QuantisedForm::int8>;
  CHECK(parts >= 1, "sum of {} parts", parts);
  check_alignment(codes, scales, sum_codes, sum_scales);
  const std::size_t blocks = quantised_blocks(QuantisedForm::int8, elements);
  for (std::size_t b = 0; b < blocks; ++b) {
    float sum[kInt8Block] = {};
    for (std::size_t part = 0; part < static_cast<std::size_t>(parts); ++part) {
      const float scale = scales[part * blocks + b];
      const std::uint8_t* const from = codes + (part * blocks + b) * kInt8Block;
      for (std::size_t i = 0; i < kInt8Block; ++i) sum[i] += C::value(from[i]) * scale;
    }
    sum_scales[b] = encode_block<QuantisedForm::int8>(sum, sum_codes + b * kInt8Block);
  }
}

constexpr Quantise kCpu = {encode, decode, requantise};

}  // namespace

const Quantise& quantise(DeviceKind kind) {
  return kind == DeviceKind::cuda ? cuda_quantise() : kCpu;
}

}  // namespace windtunnel
