// How fast a named fused attention kernel (FlashAttention-2, cuDNN 9 ...) runs on a kind of GPU:
// FLOP/s as they were measured of the kernel by itself, by direction, mask, width of a head and
// length of the sequence. The numbers, with their sources: scenarios/library/attention.yaml.
#pragma once

#include <string>
#include <vector>

#include "models/base/origin.hpp"

namespace windtunnel {

// One line of a benchmark: FLOP/s over the length of the sequence.
struct AttentionCurve {
  bool backward = false;
  bool causal = false;
  double width = 128;          // of a head
  std::vector<double> tokens;  // ascending
  std::vector<double> flop_s;  // at each of these; causal: of the half that the mask leaves
  Origin origin = Origin::published;
  std::string source;
};

struct AttentionSpeeds {
  std::string kernel;               // "fa3"
  double measured_peak_flop_s = 0;  // 16-bit peak of the GPU that was measured
  // Share of that speed which a job on several GPUs keeps: its slowest GPU sets the pace. The
  // kernel alone runs at the clock that its own power allows, so kernel.sustained, which is of
  // products, does not apply. `alone`: the same of a job on one GPU.
  Parameter in_step = {1, 1, 1, Origin::assumed, ""};
  Parameter alone = {1, 1, 1, Origin::assumed, ""};
  std::vector<AttentionCurve> curves;
};

struct AttentionShare {
  double of_peak = 0;  // FLOP/s over the GPU's 16-bit peak
  Origin origin = Origin::assumed;
};

// Where a kernel reaches half of its speed, for what nobody has measured.
struct AttentionHalves {
  double sequence = 0;
  double width = 0;
};

// Between the widths and lengths that were measured the speed goes straight over their logarithms;
// beyond them it stays, but for shorter sequences and narrower heads, where it falls as
// s / (s + half_sequence) and w / (w + half_width). A
// backward pass that was measured without a mask alone loses by a mask what the forward pass of
// that kernel loses. Precondition: the kernel has a curve of the direction.
AttentionShare attention_share(const AttentionSpeeds& speeds, bool backward, bool causal,
                               double width, double tokens, const AttentionHalves& halves);

}  // namespace windtunnel
