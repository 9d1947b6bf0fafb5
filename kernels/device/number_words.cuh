// Functions on the bits of floats that give the same result on CPU and GPU, such as rounding.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/device/host_device.cuh"

namespace windtunnel {

constexpr std::uint32_t kInfinityBits = 0x7f800000;  // from here on: infinite or NaN
constexpr std::uint32_t kNanBits = 0x7fc00000;       // the NaN that kernels write

WINDTUNNEL_BOTH inline std::uint32_t bits_of(float x) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(x);
#else
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
#endif
}

WINDTUNNEL_BOTH inline float float_of(std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
#endif
}

// The bits of |x|, an integer that orders magnitudes, with NaN above infinity.
WINDTUNNEL_BOTH inline std::uint32_t magnitude_bits(float x) {
  return bits_of(x) & 0x7fffffffu;
}

// Rounds to nearest, ties to even, for |x| < 2^22: after the addition no bits are left for a
// fraction. This takes two instructions, which run at full rate on every machine.
WINDTUNNEL_BOTH inline std::int32_t rounded(float x) {
  constexpr float kShift = 12582912.0f;  // 1.5 * 2^23
  return static_cast<std::int32_t>(bits_of(x + kShift) - 0x4b400000u);
}

// E4M3 (Micikevicius et al., "FP8 formats for deep learning", 2022, arXiv 2209.05433) has 4 bits of
// exponent with bias 7, 3 of mantissa and no infinity; values reach from 2^-9 to 448.
constexpr float kLargestE4m3 = 448.0f;

// Rounds to nearest, ties to even; larger values become 448. x must not be NaN.
WINDTUNNEL_BOTH inline std::uint32_t e4m3_of(float x) {
  const std::uint32_t sign = (bits_of(x) >> 24) & 0x80u;
  float magnitude = float_of(magnitude_bits(x));
  magnitude = magnitude < kLargestE4m3 ? magnitude : kLargestE4m3;
  // Values below 2^-6 have steps of 2^-9; 8 steps are 2^-6, the first normal number, whose code is
  // 8, too.
  const auto small = static_cast<std::uint32_t>(rounded(magnitude * 512.0f));
  const std::uint32_t bits = bits_of(magnitude);
  const std::uint32_t normal = ((bits + 0x7ffffu + ((bits >> 20) & 1u)) >> 20) - (120u << 3);
  return sign | (magnitude < 0.015625f ? small : normal);
}

WINDTUNNEL_BOTH inline float float_of_e4m3(std::uint32_t code) {
  const std::uint32_t magnitude = code & 0x7fu;
  const float small = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0.001953125f;
  const float normal = float_of((magnitude << 20) + (120u << 23));
  const float value = magnitude < 8 ? small : normal;
  return float_of((magnitude == 0x7fu ? kNanBits : bits_of(value)) | ((code & 0x80u) << 24));
}

}  // namespace windtunnel
