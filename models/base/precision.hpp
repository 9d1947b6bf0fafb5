// Weights, activations and matrix products use these number formats.
#pragma once

#include "models/base/choice.hpp"

namespace windtunnel {

// fp8: one scale per tensor; mxfp8: one per 32 elements; nvfp4: four bits, one scale per 16.
enum class Precision { fp32, tf32, fp16, bf16, fp8, mxfp8, nvfp4 };
template <>
inline constexpr Choice<Precision> kChoices<Precision>[] = {
    {"fp32", Precision::fp32},  {"tf32", Precision::tf32}, {"fp16", Precision::fp16},
    {"bf16", Precision::bf16},  {"fp8", Precision::fp8},   {"mxfp8", Precision::mxfp8},
    {"nvfp4", Precision::nvfp4}};

bool is_mixed(Precision precision);   // 16-bit weights with fp32 master weights
bool is_scaled(Precision precision);  // fp8, mxfp8, nvfp4: GEMMs of tensors with scales

// Bytes of one element of a weight or activation. fp8, mxfp8 and nvfp4 are precisions of GEMMs:
// tensors stay in bf16 (Transformer Engine's default).
double bytes_of(Precision precision);

}  // namespace windtunnel
