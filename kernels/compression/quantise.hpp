// Quantises blocks of fp32 to codes of 8 or 4 bits with one fp32 scale per block, and back. QSGD
// with buckets (Alistarh et al. 2017; here rounding to nearest), block-wise int8 and int4 (ZeRO++,
// Wang et al. 2023, arXiv 2306.10209) and scaled fp8 send this format.
//
// scale = max |x| / largest code; code = x / scale to nearest, ties to even. The error of an
// element is at most scale / 2 (fp8: 1/16 of the element, or 2^-10 of the scale if that is more)
// plus a few fp32 roundings. A block whose scale would be below the smallest normal float (1.2e-38)
// has scale 0 and decodes to zeros. A block with a NaN or an infinity has scale NaN and decodes to
// NaN throughout, so that the fault is noticed. CPU and CUDA give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/device.hpp"

namespace windtunnel {

enum class QuantisedForm {
  int8,  // -127 .. 127, blocks of 256
  int4,  // -7 .. 7, two per byte with the even element in the low half; blocks of 64
  fp8    // e4m3, blocks of 256
};

constexpr std::size_t quantised_block_elements(QuantisedForm form) {
  return form == QuantisedForm::int4 ? 64 : 256;
}
constexpr std::size_t quantised_blocks(QuantisedForm form, std::size_t elements) {
  const std::size_t block = quantised_block_elements(form);
  return (elements + block - 1) / block;
}
// Covers whole blocks: the last one is padded with codes of zeros.
constexpr std::size_t code_bytes(QuantisedForm form, std::size_t elements) {
  return quantised_blocks(form, elements) * (form == QuantisedForm::int4 ? 32 : 256);
}

// Arrays are in the device's memory, aligned to 16 bytes, and do not overlap; kernels may run until
// Device::synchronize.
struct Quantise {
  // Writes code_bytes() of `codes` and quantised_blocks() of `scales`.
  void (*encode)(QuantisedForm form, const float* x, std::size_t elements, std::uint8_t* codes,
                 float* scales);
  void (*decode)(QuantisedForm form, const std::uint8_t* codes, const float* scales,
                 std::size_t elements, float* x);
  // For int8: encodes the sum of `parts` >= 1 arrays, added in fp32 in their order. The arrays are
  // consecutive in `codes` and `scales`, each padded to whole blocks.
  void (*requantise)(const std::uint8_t* codes, const float* scales, int parts,
                     std::size_t elements, std::uint8_t* sum_codes, float* sum_scales);
};

const Quantise& quantise(DeviceKind kind);

}  // namespace windtunnel
