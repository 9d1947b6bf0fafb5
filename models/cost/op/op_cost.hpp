// The time of one kernel: a roofline (Williams et al. 2009) whose compute roof depends on the shape
// of a product (tiles, waves, split-K) or on the length of fused attention. Laws of measured
// kernels, if the calibration has them (models/calibration/kernel_law.hpp), replace the roofs.
//
// A grouped GEMM, as used for experts, is Op::batch equal products: all their tiles share the waves
// over the SMs, with the efficiency of any product (gemm.efficiency). The time never falls when m,
// n, k, batch or bytes grow; it rises in steps, so FLOP/s may fall with size.
//
// Formulas with sources, and which law applies: docs/physics/cost.md.
#pragma once

#include "models/base/origin.hpp"
#include "models/calibration/calibration.hpp"
#include "models/cost/op/op.hpp"
#include "models/machine/cluster.hpp"

namespace windtunnel {

struct Job;

struct OpCost {
  double seconds = 0;
  // The weakest origin of the numbers behind it: those of the roof that binds, and corrections
  // (launch, half sizes) that make up at least a tenth.
  Origin origin = Origin::assumed;
};

// Assumes a job on several GPUs. Throws Error if the GPU does not support the precision.
OpCost op_cost(const Op& op, const GpuSpec& gpu, Precision precision,
               const Calibration& calibration);
// Uses the job's GPUs, precision and calibration; a job on a single GPU has its own sustained_of().
OpCost op_cost(const Op& op, const Job& job);

// `times` equal ops as one kernel: a product becomes a batched one of different matrices.
Op fused_op(Op op, int times);

// Dense peak, FLOP/s. Throws Error if the GPU does not support the precision.
double peak_flops(const GpuSpec& gpu, Precision precision);

}  // namespace windtunnel
