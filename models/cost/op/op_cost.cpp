#include "models/cost/op/op_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>

#include "models/base/error.hpp"
#include "models/plan/job.hpp"

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
    case Precision::nvfp4:
      return gpu.fp4_flops;
    case Precision::fp8:
    case Precision::mxfp8:
      break;
  }
  return gpu.fp8_flops;
}

// A number that decides less than this share of a time does not affect the origin of the time.
constexpr double kNegligible = 0.1;

Origin with_correction(Origin origin, const Parameter& parameter, double share) {
  return share < kNegligible ? origin : weakest(origin, parameter.origin);
}

// Number of kernels that an op is on the GPU in the calibration's software.
double starts_of(const Op& op, const Calibration& c) {
  const Parameter* further = kernel_starts(c, op.compressing);
  return op.starts + (further == nullptr ? 0 : op.launches * further->value);
}

// Seconds under one roof, before launch and the sustained share.
OpCost memory_roof(const Op& op, const GpuSpec& gpu, const Calibration& c) {
  Origin origin = origin_of_rate(gpu.memory_Bps.origin, c.memory_efficiency.origin);
  double bytes = op.bytes;
  if (const Parameter* share = kernel_share(c, op.compressing)) {
    bytes /= share->value;
    origin = weakest(origin, share->origin);
  }
  const double half_bytes = starts_of(op, c) * c.memory_half_bytes.value;
  return {(bytes + half_bytes) / (gpu.memory_Bps.value * c.memory_efficiency.value),
          with_correction(origin, c.memory_half_bytes, half_bytes / (bytes + half_bytes))};
}

// Origin of a peak times the share that a kernel reaches alone times the share sustained in a step.
// The last was fitted to measured steps with the others given; if so, its origin counts.
Origin compute_origin(Origin peak, const Parameter& efficiency, Origin sustained) {
  if (sustained <= Origin::published) return origin_of_rate(peak, sustained);
  return weakest(origin_of_rate(peak, efficiency.origin), sustained);
}

const Parameter& gemm_efficiency(Precision precision, const Calibration& c) {
  if (precision == Precision::nvfp4 && c.gemm_fp4_efficiency.value > 0) {
    return c.gemm_fp4_efficiency;
  }
  const bool own = is_scaled(precision) && c.gemm_scaled_efficiency.value > 0;
  return own ? c.gemm_scaled_efficiency : c.gemm_efficiency;
}

// Start and end of a tile's inner loop take the same time in every precision: if tensor cores are r
// times as fast as in 16 bit, they take the time of r times as many steps.
double k_half_of(Precision precision, const Parameter& peak, const GpuSpec& gpu,
                 const Calibration& c) {
  const double in_16_bit = std::max(gpu.bf16_flops.value, gpu.fp16_flops.value);
  if (!is_scaled(precision) || in_16_bit == 0) return c.gemm_k_half.value;
  return peak.value / in_16_bit * c.gemm_k_half.value;
}

OpCost gemm_roof(const Op& op, Precision precision, const Parameter& peak, const GpuSpec& gpu,
                 const Calibration& c, Origin sustained) {
  const Parameter& efficiency = gemm_efficiency(precision, c);
  const double half = k_half_of(precision, peak, gpu, c);
  const double sms = gpu.sms.value;
  const double tile_rate = peak.value * efficiency.value / sms;
  const double memory_rate = gpu.memory_Bps.value * c.memory_efficiency.value;
  double best_s = std::numeric_limits<double>::infinity();
  double k_half_share = 0;
  for (const Tile& tile : kTiles) {
    const double tile_m = c.gemm_tile_m.value / tile.divide_m;
    const double tile_n = c.gemm_tile_n.value / tile.divide_n;
    const double tiles = op.batch * std::ceil(op.m / tile_m) * std::ceil(op.n / tile_n);
    for (const double split : kSplits) {
      const double waves = std::ceil(tiles * split / sms);
      const double inner = op.k / split + half;
      // Each split but the first writes its partial sums in fp32, and they are read once.
      const double partial_bytes = (split - 1) * 8 * op.batch * op.m * op.n;
      const double seconds = waves * 2 * tile_m * tile_n * inner / (tile_rate * tile.speed) +
                             partial_bytes / memory_rate;
      if (seconds >= best_s) continue;
      best_s = seconds;
      k_half_share = half / inner;
    }
  }
  // The efficiency was fitted with these tiles on this number of SMs.
  const Origin sheet = weakest_of({&peak, &gpu.sms, &c.gemm_tile_m, &c.gemm_tile_n});
  const Origin origin = compute_origin(sheet, efficiency, sustained);
  return {best_s, with_correction(origin, c.gemm_k_half, k_half_share)};
}

// Head width in a kernel of FlashAttention-2, which is compiled for a few widths and pads others
// with zeros (github.com/Dao-AILab/flash-attention, csrc/flash_attn/src/static_switch.h,
// HEADDIM_SWITCH). Wider heads have no such kernel and are unchanged.
double kernel_width(double width) {
  for (const double compiled : {32, 64, 96, 128, 192, 256}) {
    if (width <= compiled) return compiled;
  }
  return width;
}

// Time of the kernel that the job names, from its benchmarked speed and the share of it that a step
// sustains.
OpCost named_attention(const Op& op, const Parameter& peak, const Calibration& c, bool alone) {
  const double width = kernel_width(op.k);
  const AttentionShare share =
      attention_share(*c.attention, op.kind == OpKind::attention_backward, op.causal, width, op.n,
                      {c.attention_half_sequence.value, c.attention_half_width.value});
  const Parameter& kept = alone ? c.attention->alone : c.attention->in_step;
  return {op.flops * width / op.k / (peak.value * share.of_peak * op.speed * kept.value),
          origin_of_rate(peak.origin, weakest(share.origin, kept.origin))};
}

OpCost attention_roof(const Op& op, const Parameter& peak, const Calibration& c, Origin sustained) {
  const bool forward = op.kind == OpKind::attention_forward;
  const Parameter& efficiency =
      op.portable ? (forward ? c.portable_forward_efficiency : c.portable_backward_efficiency)
                  : (forward ? c.attention_forward_efficiency : c.attention_backward_efficiency);
  constexpr double kFittedWidth = 128;  // head width of the fitted efficiencies
  const double half = c.attention_half_sequence.value;
  const double half_width = c.attention_half_width.value;
  const double width = kernel_width(op.k);
  const double saturation =
      op.n / (op.n + half) * (width / (width + half_width)) * (1 + half_width / kFittedWidth);
  const double flops = op.flops * width / op.k;
  const Origin origin = compute_origin(peak.origin, efficiency, sustained);
  return {flops / (peak.value * efficiency.value * op.speed * saturation),
          with_correction(origin, c.attention_half_sequence, half / (op.n + half))};
}

const Parameter& checked_peak(const GpuSpec& gpu, Precision precision) {
  const Parameter& peak = peak_parameter(gpu, precision);
  if (peak.value > 0) return peak;
  throw Error(fmt::format("gpu '{}' does not support precision {}", gpu.name, name_of(precision)));
}

// Whether products run on vector units. Unfused attention multiplies matrices as wide as a head,
// and matrix units need rows aligned to 16 bytes (NVIDIA, "Matrix Multiplication Background User's
// Guide", section "Tensor Core requirements"); heads of 150, for example, run on vector units.
// Slices of a sequence are fractions of it: if these are not whole tokens, they represent aligned
// lengths nearby.
bool on_vector_units(const Op& op, Precision precision) {
  constexpr double kAlignment_bytes = 16;
  const double aligned = kAlignment_bytes / bytes_of(precision);
  const auto misses = [&](double length) {
    return length == std::floor(length) && std::fmod(length, aligned) != 0;
  };
  return op.kind == OpKind::attention_gemm && (misses(op.n) || misses(op.k));
}

// The precision that an op is computed in. With scaled formats the linear layers run in them,
// attention in bf16 (Transformer Engine's default).
Precision math_of(const Op& op, Precision precision) {
  const bool in_bf16 = op.kind != OpKind::gemm && is_scaled(precision);
  return in_bf16 ? Precision::bf16 : op.precision.value_or(precision);
}

// The slower of the roofs that apply to an op of this kind.
OpCost roofline(const Op& op, const GpuSpec& gpu, Precision precision, const Calibration& c,
                const Parameter& sustained) {
  const OpCost memory = memory_roof(op, gpu, c);
  if (op.kind == OpKind::memory) return memory;
  const Precision math = math_of(op, precision);
  const Parameter& peak = checked_peak(gpu, on_vector_units(op, math) ? Precision::fp32 : math);
  const bool fused = op.kind == OpKind::attention_forward || op.kind == OpKind::attention_backward;
  const bool named = fused && c.attention != nullptr;
  const bool alone = &sustained == &c.kernel_alone;
  const bool own_clock = fused && !alone && c.attention_sustained.value > 0;
  const Parameter& kept = own_clock ? c.attention_sustained : sustained;
  OpCost compute = named   ? named_attention(op, peak, c, alone)
                   : fused ? attention_roof(op, peak, c, kept.origin)
                           : gemm_roof(op, math, peak, gpu, c, kept.origin);
  // The sustained share is that of the compute clock; it does not affect memory.
  if (!named) compute.seconds /= kept.value;
  return compute.seconds <= memory.seconds ? memory : compute;
}

double calls_time(const Op& op, const KernelLaw& law, double bytes) {
  const double calls = op.launches > 0 ? op.launches : 1;
  return calls * law_time(law, op.flops / calls, bytes / calls) *
         shape_factor(law, op.m, op.n, op.k);
}

// Time of a kernel that does a part of the op's work, with its own bytes.
double product_time(const Op& op, const KernelLaw& law, std::string_view kernel) {
  KernelWork work;
  work.m = op.m;
  work.n = op.n;
  work.k = op.k;
  const double calls = op.launches > 0 ? op.launches : 1;
  return calls_time(op, law, calls * kernel_kind(kernel).bytes(work));
}

std::optional<double> mean_by_share(const Op& op, const KernelLaws& laws) {
  double sum_s = 0;
  int measured = 0;
  for (const KernelKind& kind : kernel_kinds()) {
    if (kind.share.empty() || kind.share != op.compressing) continue;
    const KernelLaw* law = find_law(laws, kind.name);
    if (law == nullptr) continue;
    sum_s += calls_time(op, *law, op.bytes);
    ++measured;
  }
  return measured > 0 ? std::optional(sum_s / measured) : std::nullopt;
}

std::optional<OpCost> measured_cost(const Op& op, Precision precision, const Calibration& c) {
  const KernelLaws& laws = c.kernel_laws;
  if (laws.laws.empty()) return {};
  const auto of = [&](const KernelLaw& law) {
    return OpCost{calls_time(op, law, op.bytes), Origin::measured};
  };
  const KernelLaw* own = op.kernel.empty() ? nullptr : find_law(laws, op.kernel);
  if (own != nullptr && op.second_kernel.empty()) return of(*own);
  const KernelLaw* second = own == nullptr ? nullptr : find_law(laws, op.second_kernel);
  if (second != nullptr) {
    return OpCost{product_time(op, *own, op.kernel) + product_time(op, *second, op.second_kernel),
                  Origin::measured};
  }
  if (const auto seconds = mean_by_share(op, laws)) return OpCost{*seconds, Origin::measured};
  if (op.kind == OpKind::gemm || op.kind == OpKind::attention_gemm) {
    const KernelWork work = {.kernel = "gemm", .precision = math_of(op, precision)};
    const KernelLaw* law = find_law(laws, law_key(work));
    return law == nullptr ? std::nullopt : std::optional(of(*law));
  }
  if (op.kind != OpKind::memory) return {};
  const KernelLaw* law = find_law(laws, "add");
  if (law == nullptr) law = find_law(laws, "copy");
  if (law == nullptr) return {};
  const Parameter* share = kernel_share(c, op.compressing);
  if (share == nullptr) return of(*law);
  return OpCost{calls_time(op, *law, op.bytes / share->value), share->origin};
}

}  // namespace

double peak_flops(const GpuSpec& gpu, Precision precision) {
  return checked_peak(gpu, precision).value;
}

Op fused_op(Op op, int times) {
  op.batch *= times;
  op.flops *= times;
  op.bytes *= times;
  return op;
}

namespace {

// The share of the usual speed that a special kernel reaches; nullptr: all of it.
const Parameter* share_of_speed(const Op& op, const Calibration& c) {
  if (op.scan) return &c.scan_share;
  return op.cast_by_expert ? &c.expert_cast_share : nullptr;
}

OpCost cost_of(const Op& op, const GpuSpec& gpu, Precision precision,
               const Calibration& calibration, const Parameter& sustained) {
  const Parameter* share = share_of_speed(op, calibration);
  if (share != nullptr && share->value < 1) {
    Op usual = op;
    usual.scan = usual.cast_by_expert = false;
    const OpCost cost = cost_of(usual, gpu, precision, calibration, sustained);
    return {cost.seconds / share->value, weakest(cost.origin, share->origin)};
  }
  if (const auto measured = measured_cost(op, precision, calibration)) return *measured;
  const OpCost roof = roofline(op, gpu, precision, calibration, sustained);
  const Parameter& launch = calibration.kernel_launch_s;
  const double launch_s = starts_of(op, calibration) * launch.value;
  const double seconds = launch_s + roof.seconds;
  Origin origin = with_correction(roof.origin, launch, launch_s / seconds);
  if (const Parameter* further = kernel_starts(calibration, op.compressing)) {
    origin = with_correction(origin, *further, launch_s / seconds);
  }
  return {seconds, origin};
}

}  // namespace

OpCost op_cost(const Op& op, const GpuSpec& gpu, Precision precision,
               const Calibration& calibration) {
  return cost_of(op, gpu, precision, calibration, calibration.kernel_sustained);
}

OpCost op_cost(const Op& op, const Job& job) {
  return cost_of(op, job.cluster.node.gpu, job.precision, job.calibration,
                 sustained_of(job.calibration, job.layout.ranks()));
}

}  // namespace windtunnel
