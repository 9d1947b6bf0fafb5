// The time of one kernel: a roofline (Williams et al. 2009) whose compute roof depends on the shape
// of a product (tiles, waves, split-K) or on the length of fused attention. Where the calibration
// has laws of measured kernels (models/calibration/kernel_law.hpp), these take the roofs' place.
//
// A grouped GEMM, as experts run it, is Op::batch equal products: all their tiles share the waves
// over the SMs, and its efficiency is that of any product (gemm.efficiency). The time never falls
// when m, n, k, batch or bytes grow; it rises in steps, so FLOP/s may fall with size.
//
// Formulas with sources, and which law is taken where: docs/physics/cost.md.
#pragma once

#include "models/base/origin.hpp"
#include "models/calibration/calibration.hpp"
#include "models/cost/op/op.hpp"
#include "models/machine/cluster.hpp"

namespace windtunnel {

struct Job;

struct OpCost {
  double seconds = 0;
  // The weakest of the numbers it rests on: those of the roof that binds, and of the corrections
  // (launch, halves) where they make up a tenth or more.
  Origin origin = Origin::assumed;
};

// In a job on several GPUs. Throws Error when the GPU does not support the precision.
OpCost op_cost(const Op& op, const GpuSpec& gpu, Precision precision,
               const Calibration& calibration);
// On the job's GPUs, which may be one (sustained_of()), in its precision and by its calibration.
OpCost op_cost(const Op& op, const Job& job);

// So many equal ops as one kernel: a product becomes a batched one of unlike matrices.
Op fused_op(Op op, int times);

// Dense peak, FLOP/s. Throws Error when the GPU does not support the precision.
double peak_flops(const GpuSpec& gpu, Precision precision);

}  // namespace windtunnel
