// What a stage of the model costs one rank per unit of a schedule, as searches and generators see
// it.
#pragma once

#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"

namespace windtunnel {

// Seconds, and activation memory in any unit.
struct StageCost {
  double forward_s = 0;
  double backward_input_s = 0;
  double backward_weight_s = 0;
  double activation = 0;         // + when F starts; - when B ends
  double weight_activation = 0;  // when the backward is split: this part of it stays until W ends
  double recompute_s = 0;        // before the input gradient, or in an action of its own
  double recomputed = 0;         // what such an action brings until the backward (B, I) ends
  // Communication within the times above that an overlapped pair hides behind the other's kernels.
  double forward_hideable_s = 0;
  double backward_hideable_s = 0;
  // What a slow node does not lengthen within the times above (slowed_by_node()).
  double forward_apart_s = 0;
  double backward_input_apart_s = 0;
  double backward_weight_apart_s = 0;
  double recompute_apart_s = 0;

  // All but an explicit recomputation.
  double backward_s() const { return backward_input_s + backward_weight_s; }
};

// Costs of one chunk, or of each, by action; activations in bytes.
StageCost stage_cost(const ChunkCost& chunk);
std::vector<StageCost> stage_costs(const std::vector<ChunkCost>& chunks);

// On a node whose kernels take `slowdown` times as long.
StageCost slowed(StageCost cost, double slowdown);

// How long a forward and a full backward, with its recomputation where it `recomputes`, last as
// one: each hides its communication behind the other's kernels. A slow node hides as much of it.
inline double overlapped_s(const StageCost& forward, const StageCost& backward, bool recomputes,
                           double slowdown = 1) {
  const double backward_s = backward.backward_s() + (recomputes ? backward.recompute_s : 0);
  const double forward_kernels_s = forward.forward_s - forward.forward_hideable_s;
  const double backward_kernels_s = backward_s - backward.backward_hideable_s;
  const double hidden_s =
      (forward.forward_hideable_s < backward_kernels_s ? forward.forward_hideable_s
                                                       : backward_kernels_s) +
      (backward.backward_hideable_s < forward_kernels_s ? backward.backward_hideable_s
                                                        : forward_kernels_s);
  const double apart_s = forward.forward_apart_s + backward.backward_input_apart_s +
                         backward.backward_weight_apart_s +
                         (recomputes ? backward.recompute_apart_s : 0);
  const double together_s = forward.forward_s + backward_s;
  return together_s - hidden_s + (slowdown - 1) * (together_s - apart_s);
}

}  // namespace windtunnel
