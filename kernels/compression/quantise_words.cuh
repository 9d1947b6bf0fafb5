// Quantises one element with its block's scale, for CPU and CUDA
// (kernels/compression/quantise.hpp).
#pragma once

#include <cstdint>

#include "kernels/compression/quantise.hpp"
#include "kernels/device/byte_words.cuh"
#include "kernels/device/number_words.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
#include <cuda_fp8.h>
#endif

namespace windtunnel {

struct BlockScale {
  float scale;
  float inverse;  // factor for elements; 0 if all codes are zero
  bool finite;
};

WINDTUNNEL_BOTH inline BlockScale block_scale(std::uint32_t largest_bits, float largest_code) {
  constexpr float kSmallestNormal = 1.17549435e-38f;
  if (largest_bits >= kInfinityBits) return {float_of(kNanBits), 0, false};
  const float scale = float_of(largest_bits) / largest_code;
  if (scale < kSmallestNormal) return {0, 0, true};
  return {scale, 1.0f / scale, true};
}

// The value of a code. A NaN scale always gives the same NaN.
WINDTUNNEL_BOTH inline float scaled_value(float value, float scale) {
  const float product = value * scale;
  return product == product ? product : float_of(kNanBits);
}

// The int8 code in byte kByte, as a float. Placing the byte below the bits of 2^23 makes it a
// number; conversion instructions run at a quarter of the rate of others.
template <std::uint32_t kByte>
WINDTUNNEL_BOTH float int8_value(std::uint32_t codes) {
  constexpr std::uint32_t kShiftBits = 0x4b000000;  // 2^23
  constexpr float kShift = 8388736.0f;              // 2^23 + 128
  return float_of(select_bytes(codes ^ 0x80808080u, kShiftBits, 0x7440u + kByte)) - kShift;
}

template <QuantisedForm kForm>
struct Codec;

template <>
struct Codec<QuantisedForm::int8> {
  static constexpr unsigned kBits = 8;
  static constexpr float kLargest = 127;
  WINDTUNNEL_BOTH static std::uint32_t code(float x) {
    return static_cast<std::uint32_t>(rounded(x)) & 0xffu;
  }
  WINDTUNNEL_BOTH static float value(std::uint32_t code) {
    return static_cast<float>(static_cast<std::int8_t>(code));
  }
};

template <>
struct Codec<QuantisedForm::int4> {
  static constexpr unsigned kBits = 4;
  static constexpr float kLargest = 7;
  WINDTUNNEL_BOTH static std::uint32_t code(float x) {
    return static_cast<std::uint32_t>(rounded(x)) & 0xfu;
  }
  WINDTUNNEL_BOTH static float value(std::uint32_t code) {
    return static_cast<float>(static_cast<std::int32_t>((code & 0xfu) ^ 8u) - 8);
  }
};

template <>
struct Codec<QuantisedForm::fp8> {
  static constexpr unsigned kBits = 8;
  static constexpr float kLargest = kLargestE4m3;
  WINDTUNNEL_BOTH static std::uint32_t code(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
    return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
#else
    return e4m3_of(x);
#endif
  }
  WINDTUNNEL_BOTH static float value(std::uint32_t code) {
    return float_of_e4m3(code & 0xffu);
  }
};

}  // namespace windtunnel
