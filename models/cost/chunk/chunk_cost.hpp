// What one model chunk (one stage of the pipeline) costs one GPU per micro-batch, or per slice of
// its sequence: its kernels (op_cost.hpp), what the host adds, and the communication between them
// that stays exposed: tensor_parallel.hpp, context_parallel.hpp, expert_parallel.hpp.
#pragma once

#include <vector>

#include "models/cost/op/inner_round.hpp"
#include "models/cost/op/op.hpp"
#include "models/plan/job.hpp"
#include "models/plan/task_cost.hpp"

namespace windtunnel {

struct ChunkCost {
  // One part per category and origin.
  std::vector<CostPart> forward;  // compute, tp, cp, ep
  std::vector<CostPart> backward_input;
  std::vector<CostPart> backward_weight;
  std::vector<CostPart> recompute;  // before the backward
  double parameters = 0;            // on this GPU (after tp and ep), all that are trained
  double expert_parameters = 0;     // those of them in experts, reduced over groups of their own
  // Weights that are not trained, counted by their bytes (TrainedParameters::frozen).
  double frozen_parameters = 0;
  double frozen_experts = 0;  // those of them in experts
  // Gradients go on to the stage before: something there is trained.
  bool passes_gradient = true;
  double activation_bytes = 0;  // kept on the GPU from F to B, per micro-batch (M_B)
  double offloaded_bytes = 0;   // likewise in a tier beside it (Job::offload)
  std::vector<double> offloaded_of_layers = {};  // [layer of the stage] of these; empty: none
  // Kept from I to W when the backward is split (M_W): inputs and output gradients of the GEMMs.
  double weight_activation_bytes = 0;
  // Alive only while the chunk runs: gathered inputs, gradients of a layer, recomputed tensors.
  double transient_bytes = 0;
  // What a recomputation of the whole chunk ahead of its backward brings beside activation_bytes.
  double recomputed_bytes = 0;
  double boundary_bytes = 0;  // sent to the next stage per micro-batch and GPU
  // Of F + B + W + recompute on this GPU, by the convention of model_flops(), so that HFU >= MFU:
  // what is saved is no repetition. Attention counts the full square of queries and keys, fused
  // forward and 2.5 times that backward; a table of layers the products as they stand, those of the
  // first layer's inputs and those that Winograd's algorithm saves included.
  double hardware_flops = 0;
  double masked_flops = 0;  // of them, what fused attention leaves out under a causal mask
};

// ChunkCost::hardware_flops of more than a chunk, without and with what masks leave out.
struct HardwareFlops {
  double full = 0;
  double causal = 0;
  bool operator==(const HardwareFlops&) const = default;
};

// What a stage does at once, where that is not a whole micro-batch with recomputation as the job
// has it.
struct ChunkUnit {
  SequenceSlice slice;
  std::vector<double> recompute_shares;  // [stage] of its layers that recompute; empty: all of them
  // In an action of its own: what it brings is not transient but recomputed_bytes.
  bool recomputes_ahead = false;
  // Of so many equal models at once: each kernel does the work of all (HFTA, arXiv 2102.02344), and
  // the host launches it once. Costs, bytes and parameters are those of all.
  int fused = 1;
};

// Size layout.stages(). Stage 0 holds the embedding, the last one the final norm and loss head.
// Throws Error as layers_per_stage() and peak_flops() do.
std::vector<ChunkCost> chunk_costs(const Job& job, const ChunkUnit& unit = {});

// Equal layers that follow one another, or the embedding, or the loss head.
struct LayerRounds {
  int layers = 1;
  PassRounds rounds;  // of each
};
using ChunkRounds = std::vector<LayerRounds>;  // in the order of the forward pass

// [stage] What the ranks of a replica send each other in a chunk, whose exposed time chunk_costs()
// holds.
std::vector<ChunkRounds> chunk_rounds(const Job& job, const ChunkUnit& unit = {});

// The optimizer's update of so many parameters on one GPU: a pass bound by memory, Muon's products.
std::vector<CostPart> update_cost(double parameters, const Job& job);
// The optimizer step of one GPU over the parameters that it updates, and what the host adds.
std::vector<CostPart> optimizer_cost(double parameters, const Job& job);

}  // namespace windtunnel
