// The kernels that one GPU runs for a layer, the embedding or the loss head, per micro-batch or
// slice of it, as in Megatron-Core and Transformer Engine: column-parallel QKV and up projections,
// row-parallel output and down projections (Shoeybi et al. 2019, arXiv 1909.08053), norms and
// residuals over 1/tp of the sequence under sequence parallelism (Korthikanti et al. 2022, arXiv
// 2205.05198), weight gradients accumulated in fp32 by the GEMM, an unfused cross entropy. Latent
// attention: op_attention.cpp; experts: op_mlp.cpp; scaled precisions: docs/physics/cost.md.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/workload/op_kernel.hpp"

namespace windtunnel {

// The part of a sequence that a block works on. In a model with two stacks it consists of the
// tokens of the block's own stack.
SequenceSlice part_of(const Job& job, Block block, const SequenceSlice& slice);
// Tokens that the encoder reads for each token of the decoder.
double sources_per_token(const Job& job);

std::vector<Op> block_ops(const Job& job, Block block, Pass pass, const SequenceSlice& slice = {});

// Kernels of a multi-token prediction module before its layer: another embedding of the tokens,
// norms of it and of the previous layer's output, and the matrix that maps both to one width
// (column parallel and gathered: Megatron-Core's multi_token_prediction.py).
std::vector<Op> joining_ops(const Job& job, Pass pass, const SequenceSlice& slice = {});

// The forward ops of a layer that are recomputed in the backward pass: those of the modules of
// Job::recompute, in order.
std::vector<Op> recomputed_ops(const Job& job, Block block, const SequenceSlice& slice = {});

// Bytes that the backward pass of a Mamba layer with `rows` tokens recomputes, and the gradients of
// its states.
double mamba_workspace_bytes(const Job& job, double rows);

// Bytes per element of a tensor as a linear layer's GEMM reads it, including its share of a scale.
// tp gathers this form, because Transformer Engine quantises first.
double gemm_bytes_of(Precision precision);

// The same op with no cost, for a pass that omits it; it keeps its role.
Op not_run(Op op);

// The product with this role; throws InternalError if there is none.
const Op& product_of(const std::vector<Op>& ops, OpRole role);

}  // namespace windtunnel
