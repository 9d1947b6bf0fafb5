// This is the code of one element, for CPU and CUDA (kernels/compression/ternary.hpp).
#pragma once

#include "kernels/device/number_words.cuh"
#include "kernels/device/philox.cuh"

namespace windtunnel {

WINDTUNNEL_BOTH inline std::uint32_t ternary_code(float x, std::uint32_t random, float maximum) {
  // 24 random bits are exact in fp32, and so is their fraction of 1.
  const float share = static_cast<float>(static_cast<std::int32_t>(random >> 8)) * 0x1p-24f;
  const bool sent = share * maximum < float_of(magnitude_bits(x));
  return sent ? (x < 0 ? 3u : 1u) : 0u;
}

WINDTUNNEL_BOTH inline float ternary_value(std::uint32_t code, float maximum) {
  const float value = (code & 3u) == 3u ? -maximum : ((code & 3u) == 1u ? maximum : 0.0f);
  return magnitude_bits(maximum) >= kInfinityBits ? float_of(kNanBits) : value;
}

}  // namespace windtunnel
