// Costs of a stage of the model on one rank per unit of a schedule, for searches and generators.
#pragma once

#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"

namespace windtunnel {

// Times are in seconds; activation memory may have any unit.
struct StageCost {
  double forward_s = 0;
  double backward_input_s = 0;
  double backward_weight_s = 0;
  double activation = 0;         // allocated when F starts, freed when B ends
  double weight_activation = 0;  // the part that stays until W ends if the backward is split
  double recompute_s = 0;        // before the input gradient, or as a separate action
  double recomputed = 0;         // allocated by such an action until the backward (B, I) ends
  // Communication above that each pass of an overlapped pair hides behind the other's kernels.
  double forward_hideable_s = 0;
  double backward_hideable_s = 0;
  // Parts of the times above that a slow node does not lengthen (slowed_by_node()).
  double forward_apart_s = 0;
  double backward_input_apart_s = 0;
  double backward_weight_apart_s = 0;
  double recompute_apart_s = 0;

  // Time of a full backward, without a separate recomputation.
  double backward_s() const { return backward_input_s + backward_weight_s; }
};

// Returns the costs of a chunk by action, with activations in bytes.
StageCost stage_cost(const ChunkCost& chunk);
std::vector<StageCost> stage_costs(const std::vector<ChunkCost>& chunks);

// Returns the costs on a node whose kernels take `slowdown` times as long.
StageCost slowed(StageCost cost, double slowdown);

// Returns the duration of a forward and a full backward that run as one: each hides its
// communication behind the kernels of the other. `recomputes`: includes the recomputation. A slow
// node hides equally much.
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
