// Compresses activations and their gradients in messages between ranks of a replica: each element
// is quantised with the scale of its block. A kernel of the sender packs them and a kernel of the
// receiver unpacks them, both bound by memory. No state is kept between steps.
//
// Sums cannot be formed on packed data. A reduce-scatter becomes an all-to-all of packed parts and
// a sum in full precision; an all-reduce is that and an all-gather of the packed sum. Every element
// is thus quantised once in each half (ZeRO++'s qgZ, Wang et al. 2023, arXiv 2306.10209, section
// 3.3; the two steps of Flash Communication, Li et al. 2024, arXiv 2412.04964, section 3). What
// each axis sends: docs/physics/communication.md, "Compressors by axis".
#pragma once

#include <optional>
#include <string_view>

#include "models/compression/compressor.hpp"
#include "models/workload/op_kernel.hpp"

namespace windtunnel {

struct ActivationCodec {
  double bytes = 0;  // of a packed element, including its share of a scale
  // The kernels of kernel_kinds() that measure these; empty: none.
  std::string_view quantise = {};
  std::string_view dequantise = {};

  // Returns the kernel that packs `elements`, each of `element_bytes` before packing.
  Op encode(double elements, double element_bytes) const;
  Op decode(double elements, double element_bytes) const;
  // Sums the packed parts of all ranks into an unpacked result; requantise() packs the sum again.
  Op sum(double elements, double element_bytes, double ranks) const;
  Op requantise(double elements, double ranks) const;
};

// Empty if the choice is "none". Throws Error for a compressor that cannot handle activations.
std::optional<ActivationCodec> activation_codec(const CompressorChoice& choice);

}  // namespace windtunnel
