#include "models/op_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// A tile of the library: the calibration's tile with both sides divided, and its speed relative to
// the largest. A tile of a x b does 2ab operations per a + b elements loaded, so a smaller one
// leans more on shared memory and L2. Relative speeds: NVIDIA, "Matrix Multiplication Background
// User's Guide", section "Tile quantization" (A100: 256x128 fastest, 64x64 about 0.6 of it).
struct Tile {
  double divide_m;
  double divide_n;
  double speed;
};
constexpr std::array<Tile, 5> kTiles = {
    {{1, 1, 1.0}, {2, 0.5, 1.0}, {2, 1, 0.92}, {2, 2, 0.80}, {4, 2, 0.62}}};
constexpr std::array<double, 5> kSplits = {1, 2, 3, 4, 8};

Origin weakest_of(std::initializer_list<const Parameter*> parameters) {
  Origin origin = Origin::measured;
  for (const Parameter* parameter : parameters) origin = weakest(origin, parameter->origin);
  return origin;
}

const Parameter& peak_parameter(const GpuSpec& gpu, Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return gpu.fp32_flops;
    case Precision::tf32:
      return gpu.tf32_flops;
    case Precision::fp16:
      return gpu.fp16_flops;
    case Precision::bf16:
      return gpu.bf16_flops;
    case Precision::fp8:
      break;
  }
  return gpu.fp8_flops;
}

const char* name_of(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return "fp32";
    case Precision::tf32:
      return "tf32";
    case Precision::fp16:
      return "fp16";
    case Precision::bf16:
      return "bf16";
    case Precision::fp8:
      break;
  }
  return "fp8";
}

double memory_seconds(double bytes, const GpuSpec& gpu, const Calibration& calibration) {
  return (bytes + calibration.memory_half_bytes.value) /
         (gpu.memory_Bps.value * calibration.memory_efficiency.value);
}

double gemm_seconds(const Op& op, double peak, const GpuSpec& gpu, const Calibration& calibration) {
  const double sms = gpu.sms.value;
  const double tile_rate = peak * calibration.gemm_efficiency.value / sms;
  const double memory_rate = gpu.memory_Bps.value * calibration.memory_efficiency.value;
  double best = std::numeric_limits<double>::infinity();
  for (const Tile& tile : kTiles) {
    const double tile_m = calibration.gemm_tile_m.value / tile.divide_m;
    const double tile_n = calibration.gemm_tile_n.value / tile.divide_n;
    const double tiles = op.batch * std::ceil(op.m / tile_m) * std::ceil(op.n / tile_n);
    for (const double split : kSplits) {
      const double waves = std::ceil(tiles * split / sms);
      const double inner = op.k / split + calibration.gemm_k_half.value;
      // Each split but the first writes its partial sums in fp32, and they are read once.
      const double partial_bytes = (split - 1) * 8 * op.batch * op.m * op.n;
      const double seconds = waves * 2 * tile_m * tile_n * inner / (tile_rate * tile.speed) +
                             partial_bytes / memory_rate;
      best = std::min(best, seconds);
    }
  }
  return std::max(best, memory_seconds(op.bytes, gpu, calibration));
}

double attention_seconds(const Op& op, double peak, const Parameter& efficiency, const GpuSpec& gpu,
                         const Calibration& calibration) {
  const double saturation = op.n / (op.n + calibration.attention_half_sequence.value);
  return std::max(op.flops / (peak * efficiency.value * saturation),
                  memory_seconds(op.bytes, gpu, calibration));
}

}  // namespace

double peak_flops(const GpuSpec& gpu, Precision precision) {
  const double peak = peak_parameter(gpu, precision).value;
  if (peak <= 0) {
    throw Error(
        fmt::format("gpu '{}' does not support precision {}", gpu.name, name_of(precision)));
  }
  return peak;
}

OpCost op_cost(const Op& op, const GpuSpec& gpu, Precision precision,
               const Calibration& calibration) {
  const Calibration& c = calibration;
  const auto cost = [&c](double roofline_s, Origin origin) {
    return OpCost{c.kernel_launch_s.value + roofline_s / c.kernel_sustained.value, origin};
  };
  const Origin memory_origin =
      weakest_of({&gpu.memory_Bps, &c.memory_efficiency, &c.memory_half_bytes, &c.kernel_launch_s,
                  &c.kernel_sustained});
  if (op.kind == OpKind::memory) return cost(memory_seconds(op.bytes, gpu, c), memory_origin);
  // Under fp8 the linear layers run in fp8, attention in bf16 (Transformer Engine's default).
  const bool in_bf16 = op.kind != OpKind::gemm && precision == Precision::fp8;
  const Precision used = in_bf16 ? Precision::bf16 : precision;
  const double peak = peak_flops(gpu, used);
  const Origin compute_origin = weakest(memory_origin, peak_parameter(gpu, used).origin);
  if (op.kind == OpKind::gemm) {
    return cost(gemm_seconds(op, peak, gpu, c),
                weakest(compute_origin, weakest_of({&gpu.sms, &c.gemm_efficiency, &c.gemm_k_half,
                                                    &c.gemm_tile_m, &c.gemm_tile_n})));
  }
  const Parameter& efficiency = op.kind == OpKind::attention_forward
                                    ? c.attention_forward_efficiency
                                    : c.attention_backward_efficiency;
  return cost(attention_seconds(op, peak, efficiency, gpu, c),
              weakest(compute_origin, weakest_of({&efficiency, &c.attention_half_sequence})));
}

}  // namespace windtunnel
