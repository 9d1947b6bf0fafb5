// Speed of a named fused attention kernel (FlashAttention-2, cuDNN 9 ...) on a kind of GPU: FLOP/s
// from benchmarks of the kernel alone, by direction, mask, head width and sequence length. Numbers
// and sources: scenarios/library/attention.yaml.
#pragma once

#include <string>
#include <vector>

#include "models/base/origin.hpp"

namespace windtunnel {

// A benchmark's series gives FLOP/s by sequence length.
struct AttentionCurve {
  bool backward = false;
  bool causal = false;
  double width = 128;          // width of a head
  std::vector<double> tokens;  // ascending
  std::vector<double> flop_s;  // at each length; with a causal mask counting only the computed half
  Origin origin = Origin::published;
  std::string source;
};

struct AttentionSpeeds {
  std::string kernel;               // "fa3"
  double measured_peak_flop_s = 0;  // 16-bit peak of the benchmarked GPU
  // Share of the benchmarked speed that a job on several GPUs sustains, since its slowest GPU sets
  // the pace. The benchmark already ran at the clock that the kernel's power allows, so
  // kernel.sustained, which is for matrix products, does not apply. `alone`: the same share for a
  // job on one GPU.
  Parameter in_step = {1, 1, 1, Origin::assumed, ""};
  Parameter alone = {1, 1, 1, Origin::assumed, ""};
  std::vector<AttentionCurve> curves;
};

struct AttentionShare {
  double of_peak = 0;  // FLOP/s over the GPU's 16-bit peak
  Origin origin = Origin::assumed;
};

// Size at which a kernel reaches half of its speed, to extrapolate beyond the benchmarks.
struct AttentionHalves {
  double sequence = 0;
  double width = 0;
};

// Between measured widths and lengths the speed is linear in their logarithms. Beyond them it is
// constant, except that it falls as s / (s + half_sequence) for shorter sequences and w / (w +
// half_width) for narrower heads. If a backward pass was measured only without a mask, a mask costs
// it the same factor as the kernel's forward pass. Precondition: the kernel has a curve for the
// direction.
AttentionShare attention_share(const AttentionSpeeds& speeds, bool backward, bool causal,
                               double width, double tokens, const AttentionHalves& halves);

}  // namespace windtunnel
