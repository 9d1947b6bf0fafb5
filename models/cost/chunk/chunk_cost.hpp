// The cost of a model chunk (one stage of the pipeline) on one GPU per micro-batch, or per slice of
// its sequence: kernels (op_cost.hpp), host overhead, and exposed communication:
// tensor_parallel.hpp, context_parallel.hpp, expert_parallel.hpp.
#pragma once

#include <vector>

#include "models/cost/op/inner_round.hpp"
#include "models/cost/op/op.hpp"
#include "models/plan/job.hpp"
#include "models/plan/task_cost.hpp"

namespace windtunnel {

struct ChunkCost {
  // Each part sums what has the same category and origin.
  std::vector<CostPart> forward;  // compute, tp, cp, ep
  std::vector<CostPart> backward_input;
  std::vector<CostPart> backward_weight;
  std::vector<CostPart> recompute;  // before the backward
  double parameters = 0;            // trained parameters on this GPU (after tp and ep)
  // the part of them in experts, which are reduced over separate groups
  double expert_parameters = 0;
  // Frozen weights are counted in units of a trained weight's bytes (TrainedParameters::frozen).
  double frozen_parameters = 0;
  double frozen_experts = 0;  // the part of them in experts
  // Gradients are passed to the previous stage, because something there is trained.
  bool passes_gradient = true;
  double activation_bytes = 0;  // kept on the GPU from F to B, per micro-batch (M_B)
  double offloaded_bytes = 0;   // kept in a tier outside the GPU instead (Job::offload)
  // [layer of the stage] its part of offloaded_bytes; empty: none
  std::vector<double> offloaded_of_layers = {};
  // Kept from I to W when the backward is split (M_W): inputs and output gradients of the GEMMs.
  double weight_activation_bytes = 0;
  // Allocated only while the chunk runs: gathered inputs, gradients of a layer, recomputed tensors.
  double transient_bytes = 0;
  // If the whole chunk is recomputed ahead of its backward, these bytes add to activation_bytes.
  double recomputed_bytes = 0;
  double boundary_bytes = 0;  // sent to the next stage per micro-batch and GPU
  // FLOPs of F + B + W + recompute on this GPU by the convention of model_flops(). Products that an
  // algorithm avoids still count once, so that HFU >= MFU. Attention counts the full square of
  // queries and keys, and fused attention 2.5 times its forward in the backward pass. A table of
  // layers counts all products, including gradients of the first layer's inputs and multiplications
  // avoided by Winograd's algorithm.
  double hardware_flops = 0;
  double masked_flops = 0;  // the part of it that fused attention skips under a causal mask
};

// Sums of ChunkCost::hardware_flops over chunks; `causal`: without ChunkCost::masked_flops.
struct HardwareFlops {
  double full = 0;
  double causal = 0;
  bool operator==(const HardwareFlops&) const = default;
};

// What a stage processes at a time, if it is not a whole micro-batch with the job's recomputation.
struct ChunkUnit {
  SequenceSlice slice;
  std::vector<double> recompute_shares;  // [stage] share of its layers that recompute; empty: all
  // Recomputation is a separate action: its result counts as recomputed_bytes, not as transient.
  bool recomputes_ahead = false;
  // Number of equal models trained at once: each kernel does the work of all (HFTA, arXiv
  // 2102.02344), with one launch. Costs, bytes and parameters are totals.
  int fused = 1;
};

// Size layout.stages(). Stage 0 has the embedding, the last one the final norm and loss head.
// Throws Error as layers_per_stage() and peak_flops() do.
std::vector<ChunkCost> chunk_costs(const Job& job, const ChunkUnit& unit = {});

// Consecutive equal layers, or the embedding, or the loss head.
struct LayerRounds {
  int layers = 1;
  PassRounds rounds;  // per layer
};
using ChunkRounds = std::vector<LayerRounds>;  // in the order of the forward pass

// [stage] Communication inside the replica during a chunk. Its exposed time is part of
// chunk_costs().
std::vector<ChunkRounds> chunk_rounds(const Job& job, const ChunkUnit& unit = {});

// The optimizer's update of `parameters` on one GPU: a memory-bound pass, and Muon's products.
std::vector<CostPart> update_cost(double parameters, const Job& job);
// The optimizer step of one GPU includes the update of its `parameters` and host overhead.
std::vector<CostPart> optimizer_cost(double parameters, const Job& job);

}  // namespace windtunnel
