// Bytes that a layer, the loss head and a message between stages keep on a GPU (Korthikanti et al.
// 2022, arXiv 2205.05198, generalised to GQA, SwiGLU and fused attention).
#pragma once

#include "models/compression/boundary.hpp"
#include "models/cost/op/op.hpp"

namespace windtunnel {

// Bytes per micro-batch and GPU of one layer. `kept` lives from F to B. With sequence s,
// micro-batch b, hidden h, heads a, tp and sequence parallelism t, a GPT in 16 bit with dropout and
// no recomputation keeps s b h (34 + 5 a s / h) / t with unfused attention; fused attention keeps 4
// B per row and head instead of 5 a s^2 b. cp divides s b by cp. Experts process per_token *
// imbalance rows for each token of the GPU, and keep each row's input and output.
struct LayerActivations {
  double kept = 0;
  double for_weights = 0;     // from I to W: inputs and output gradients of the GEMMs
  double transient = 0;       // while the layer runs: gathered input, gradients, recomputed tensors
  double recomputed = 0;      // the recomputed tensors in `transient`
  double read_by_slices = 0;  // part of `kept`: keys and values that later slices read
};
// If there is a slice, keys and values of a recomputed layer are kept for later slices.
LayerActivations layer_activations(const Job& job, Block block = Block::layer,
                                   const SequenceSlice& slice = {});

// Gradients of one layer's keys and values that a slice's backward adds for earlier slices.
double pending_gradient_bytes(const Job& job, const SequenceSlice& slice);

// The loss head keeps the final norm's input and output, and loss_bytes(); `transient` has the
// other copies of the logits (Software::logit_bytes).
LayerActivations head_activations(const Job& job, const SequenceSlice& slice = {});

// Bytes that the loss of a micro-batch keeps from its forward to its backward pass: the softmax of
// the logits, or the gradient that one kernel has written over them. They are not allocated while
// layers run.
double loss_bytes(const Job& job, const SequenceSlice& slice);

// What a multi-token prediction module keeps before its layer: inputs of two norms, and their
// concatenated outputs.
double joining_bytes(const Job& job, const SequenceSlice& slice = {});

// A pipeline stage sends an activation (1/tp of it per GPU under sequence parallelism) or its
// low-rank factor.
BoundaryRecipe stage_boundary(const Job& job, const SequenceSlice& slice = {});
// Number of parts into which the tp ranks divide the message, sending one each
// (Software::scatter_sends); 1: not divided.
int boundary_parts(const Job& job);
// Throws Error that starts with the key if a job sets a rank for the boundary that cannot be used.
void check_boundary(const Job& job);

}  // namespace windtunnel
