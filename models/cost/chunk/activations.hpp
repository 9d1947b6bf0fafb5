// Activations that a layer, the loss head and a message between stages keep on a GPU (Korthikanti
// et al. 2022, arXiv 2205.05198, generalised to GQA, SwiGLU and fused attention).
#pragma once

#include "models/compression/boundary.hpp"
#include "models/cost/op/op.hpp"

namespace windtunnel {

// Bytes per micro-batch and GPU of one layer. `kept` lives from F to B. With sequence s,
// micro-batch b, hidden h, heads a, tp and sequence parallelism t, GPT in 16 bit with dropout,
// nothing recomputed: s b h (34 + 5 a s / h) / t for unfused attention; fused keeps 4 B per row and
// head in place of the 5 a s^2 b. cp divides s b by cp. Experts see per_token * imbalance rows for
// each token of the GPU, and keep each row on its way in and out.
struct LayerActivations {
  double kept = 0;
  double for_weights = 0;     // from I to W: inputs and output gradients of the four GEMMs
  double transient = 0;       // while the layer runs: gathered input, gradients, recomputed tensors
  double recomputed = 0;      // the latter alone
  double read_by_slices = 0;  // of `kept`: keys and values that the slices behind it read
};
// Of a slice; the keys and values of a layer that is recomputed stay for the slices behind it.
LayerActivations layer_activations(const Job& job, Block block = Block::layer,
                                   const SequenceSlice& slice = {});

// Gradients of one layer's keys and values that a slice's backward leaves to the slices before it.
double pending_gradient_bytes(const Job& job, const SequenceSlice& slice);

// The same of the loss head: final norm, its output, fp32 softmax; transient: the other copies of
// the logits (Software::logit_bytes).
LayerActivations head_activations(const Job& job, const SequenceSlice& slice = {});

// What a module of TransformerSpec::mtp_layers keeps before its layer: inputs of two norms
// and their outputs side by side.
double joining_bytes(const Job& job, const SequenceSlice& slice = {});

// What crosses between stages: an activation, 1/tp of it per GPU under sequence parallelism, or its
// factor of low rank.
BoundaryRecipe stage_boundary(const Job& job, const SequenceSlice& slice = {});
// Into how many parts it is cut, of which each rank of tp sends one (Software::scatter_sends); 1:
// into none.
int boundary_parts(const Job& job);
// Throws Error that starts with the key where a job has a rank for it and no place for it.
void check_boundary(const Job& job);

}  // namespace windtunnel
