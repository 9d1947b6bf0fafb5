// The time of one kernel: a roofline whose compute roof depends on the shape.
#pragma once

#include "models/base/origin.hpp"
#include "models/calibration.hpp"
#include "models/cluster.hpp"
#include "models/op.hpp"

namespace windtunnel {

struct OpCost {
  double seconds = 0;
  Origin origin = Origin::assumed;   // the weakest of the numbers it rests on
};

// launch + max(flops / reached FLOP/s, bytes / reached bandwidth). For a GEMM the reached FLOP/s is
// peak * efficiency * wave use * tile use * k / (k + k_half), where wave use = waves / ceil(waves)
// with waves = output tiles / SMs, and tile use = useful part of the padded output.
// Throws Error when the GPU does not support the precision.
OpCost op_cost(const Op& op, const GpuSpec& gpu, Precision precision, const Calibration& calibration);

double peak_flops(const GpuSpec& gpu, Precision precision);

}  // namespace windtunnel
