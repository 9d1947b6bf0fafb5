// Activations, and their gradients, that the ranks of a replica send each other in few bits: each
// element quantised under the scale of its block, packed by a kernel of the sender and unpacked by
// one of the receiver, both bound by memory. Nothing is kept from step to step.
//
// What is summed on the way cannot stay packed. A reduce-scatter becomes an all-to-all of packed
// parts and a sum in full precision, an all-reduce that and an all-gather of the packed sum: every
// element is quantised once on each half of the way (ZeRO++'s qgZ, Wang et al. 2023, arXiv
// 2306.10209, section 3.3; the two steps of Flash Communication, Li et al. 2024, arXiv 2412.04964,
// section 3). Which axis sends what how: docs/physics/communication.md, "Compressors by axis".
#pragma once

#include <optional>
#include <string_view>

#include "models/compression/compressor.hpp"
#include "models/workload/op_kernel.hpp"

namespace windtunnel {

struct ActivationCodec {
  double bytes = 0;  // of a packed element, its share of a scale included
  // The kernels of kernel_kinds() that are these very ones; empty: none.
  std::string_view quantise = {};
  std::string_view dequantise = {};

  // The kernel that packs `elements`, each of `element_bytes` when unpacked.
  Op encode(double elements, double element_bytes) const;
  Op decode(double elements, double element_bytes) const;
  // Packed parts from all ranks in, their sum out: unpacked, or packed again.
  Op sum(double elements, double element_bytes, double ranks) const;
  Op requantise(double elements, double ranks) const;
};

// Nothing where the choice is none. Throws Error for a compressor that does not go with
// activations.
std::optional<ActivationCodec> activation_codec(const CompressorChoice& choice);

}  // namespace windtunnel
