// The time of one kernel: a roofline (Williams et al. 2009) whose compute roof depends on shape.
//
// GEMM: launch + max(padded FLOPs / (peak * efficiency * sustained), bytes at the memory roof). The
// output is cut into tiles, the tiles into waves over the SMs (NVIDIA, "Matrix Multiplication
// Background User's Guide": tile and wave quantisation), and a tile's inner loop pays a constant
// start and end, k -> k + k_half (Hockney's half-performance length). Of the tiles that a library
// offers (the largest, and its halves with their poorer reuse) and of splitting k over more blocks
// with the partial sums passing through memory (CUTLASS split-K) the cheapest is taken, as cuBLAS'
// heuristics aim to.
// Attention (fused): FLOPs / (peak * efficiency * s / (s + s_half)), the shape of the throughput
// curves over the sequence length s in Dao 2023 (arXiv 2307.08691) and Shah et al. 2024 (arXiv
// 2407.08608).
// Memory-bound kernels: (bytes / share + half_bytes) / (bandwidth * efficiency); the share is 1, of
// a compressor's kernels what kernel_share() says.
//
// Measured: where the calibration has laws of kernels that were timed
// (models/calibration/kernel_law.hpp), the law of the op is its time, whole calls, what a call
// takes by itself included, and nothing is added for launches: as many calls as Op::launches. It is
// the law of
//   the kernel that the op says it is (Op::kernel), or of both where it says two
//   else, of compressors' kernels, those of the kinds whose share it is (KernelKind::share), in the
//   middle
//   else, of products, "gemm" of the precision
//   else, of what is bound by memory, "add" or else "copy" over the bytes / share
// Fused attention, and what none of these was measured for, keep the roofs.
//
// Monotone: each candidate's time never falls when m, n, k, batch or bytes grow, nor does the
// minimum of them. It rises in steps, so more work may be free, and FLOP/s may fall with size.
#pragma once

#include "models/base/origin.hpp"
#include "models/calibration/calibration.hpp"
#include "models/cost/op/op.hpp"
#include "models/machine/cluster.hpp"

namespace windtunnel {

struct OpCost {
  double seconds = 0;
  // The weakest of the numbers it rests on: those of the roof that binds, and of the corrections
  // (launch, halves) where they make up a tenth or more.
  Origin origin = Origin::assumed;
};

// Throws Error when the GPU does not support the precision.
OpCost op_cost(const Op& op, const GpuSpec& gpu, Precision precision,
               const Calibration& calibration);

// Dense peak, FLOP/s. Throws Error when the GPU does not support the precision.
double peak_flops(const GpuSpec& gpu, Precision precision);

}  // namespace windtunnel
