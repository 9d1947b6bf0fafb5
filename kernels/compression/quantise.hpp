// fp32 in blocks to codes of 8 or 4 bits with one fp32 scale a block, and back: what QSGD with
// buckets (Alistarh et al. 2017, here with rounding to nearest), block-wise int8 and int4 (ZeRO++,
// Wang et al. 2023, arXiv 2306.10209) and scaled fp8 send.
//
// scale = max |x| / largest code; code = x / scale to nearest, ties to even, so that an element is
// off by at most scale / 2 (fp8: by 1/16 of itself, or 2^-10 of the scale if that is more) and some
// roundings of fp32. Blocks of which max |x| / largest is below the smallest normal float (1.2e-38)
// have scale 0 and decode to zeros. A block with a NaN or an infinity has scale NaN and decodes to
// NaN throughout, so that it is noticed. CPU and CUDA give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/device.hpp"

namespace windtunnel {

enum class QuantisedForm {
  int8,  // -127 .. 127, blocks of 256
  int4,  // -7 .. 7, two a byte, the even element in its low half; blocks of 64
  fp8    // e4m3, blocks of 256
};

constexpr std::size_t quantised_block_elements(QuantisedForm form) {
  return form == QuantisedForm::int4 ? 64 : 256;
}
constexpr std::size_t quantised_blocks(QuantisedForm form, std::size_t elements) {
  const std::size_t block = quantised_block_elements(form);
  return (elements + block - 1) / block;
}
// Whole blocks: the last one is filled up with codes of zeros.
constexpr std::size_t code_bytes(QuantisedForm form, std::size_t elements) {
  return quantised_blocks(form, elements) * (form == QuantisedForm::int4 ? 32 : 256);
}

// Arrays lie in the device's memory, aligned to 16 bytes, and do not overlap; kernels may still run
// until Device::synchronize.
struct Quantise {
  // `codes` of code_bytes, `scales` of quantised_blocks.
  void (*encode)(QuantisedForm form, const float* x, std::size_t elements, std::uint8_t* codes,
                 float* scales);
  void (*decode)(QuantisedForm form, const std::uint8_t* codes, const float* scales,
                 std::size_t elements, float* x);
  // int8: the sum of `parts` >= 1 arrays, in fp32 and in their order, encoded again. The parts
  // follow each other in `codes` and `scales`, each of whole blocks.
  void (*requantise)(const std::uint8_t* codes, const float* scales, int parts,
                     std::size_t elements, std::uint8_t* sum_codes, float* sum_scales);
};

const Quantise& quantise(DeviceKind kind);

}  // namespace windtunnel
