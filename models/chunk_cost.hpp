// What one model chunk (one stage of the pipeline) costs one GPU per micro-batch, or per slice of
// its sequence: its kernels
// (op_cost.hpp) and the tensor- and context-parallel communication between them, as Megatron-LM
// runs it (Korthikanti et al. 2022, arXiv 2205.05198, figure 5).
//
// tp, exposed: forward all-gather and reduce-scatter around attention and around the MLP (without
// sequence parallelism an all-reduce after each); backward the all-gather of the two row-parallel
// layers' gradients. Software::tp_overlap cuts these and their GEMM into tp pieces and hides all
// but one behind it. Hidden as far as the GEMM beside it lasts: the second all-gather of a
// column-parallel layer's input (behind its input gradient) and the reduction of its input gradient
// (behind its weight gradient, so I counts only what W does not cover; a schedule that takes W away
// from I exposes it in full, which is not counted). That the GEMM slows down meanwhile is not
// counted either. Gathered tensors travel quantised. Latent attention gathers its latents in place
// of the layer's input. Experts are whole: of a layer with them tp divides the shared one only.
//
// cp: a ring (Liu et al. 2023, arXiv 2310.01889; Megatron-Core's cp_comm_type p2p) passes K and V,
// backward their gradients too, hidden step by step behind attention; every rank has an early and a
// late piece of the sequence, so that all have the same work.
//
// ep, exposed: an all-to-all of one copy per token and expert to the experts and one back, forward
// and again backward; the busiest rank's share is MixtureOfExperts::imbalance times the mean.
// Software::ep_merged sends one copy per node (DeepEP, HybridEP; that a router may limit the nodes
// is not counted). Software::ep_overlap hides them behind the other direction of the same
// layer, of another micro-batch (Megatron-Core's overlap_moe_expert_parallel_comm, DualPipe; that
// the first and last micro-batches have no other is not counted); tp_overlap alone behind the
// shared expert (moe_shared_expert_overlap).
#pragma once

#include <vector>

#include "models/job.hpp"
#include "models/op.hpp"
#include "models/task_cost.hpp"

namespace windtunnel {

struct ChunkCost {
  // One part per category and origin.
  std::vector<CostPart> forward;  // compute, tp, cp, ep
  std::vector<CostPart> backward_input;
  std::vector<CostPart> backward_weight;
  std::vector<CostPart> recompute;  // before the backward
  double parameters = 0;            // on this GPU (after tp and ep), all of them
  double expert_parameters = 0;     // those of them in experts, reduced over groups of their own
  double activation_bytes = 0;      // kept from F to B, per micro-batch and GPU (M_B)
  // Kept from I to W when the backward is split (M_W): inputs and output gradients of the GEMMs.
  double weight_activation_bytes = 0;
  // Alive only while the chunk runs: gathered inputs, gradients of a layer, recomputed tensors.
  double transient_bytes = 0;
  // What a recomputation of the whole chunk ahead of its backward brings beside activation_bytes.
  double recomputed_bytes = 0;
  double boundary_bytes = 0;  // sent to the next stage per micro-batch and GPU
  // Of F + B + W + recompute on this GPU. Fused attention counts the full square, forward and 2.5
  // times that backward, so that the same convention as model_flops() holds and HFU >= MFU.
  double hardware_flops = 0;
};

// What a stage does at once, where that is not a whole micro-batch with recomputation as the job
// has it.
struct ChunkUnit {
  SequenceSlice slice;
  std::vector<double> recompute_shares;  // [stage] of its layers that recompute; empty: all of them
  // In an action of its own: what it brings is not transient but recomputed_bytes.
  bool recomputes_ahead = false;
};

// Size layout.stages(). Stage 0 holds the embedding, the last one the final norm and loss head.
// Throws Error as layers_per_stage() and peak_flops() do.
std::vector<ChunkCost> chunk_costs(const Job& job, const ChunkUnit& unit = {});

// The optimizer step of one GPU over the parameters that it updates: one memory-bound pass.
std::vector<CostPart> optimizer_cost(double parameters, const GpuSpec& gpu,
                                     const Calibration& calibration);

}  // namespace windtunnel
