// The kernels one GPU runs for a layer, the embedding or the loss head, for one micro-batch or a
// slice of it, as Megatron-Core and Transformer Engine launch them: column-parallel QKV and up
// projections, row-parallel output and down projections (Shoeybi et al. 2019, arXiv 1909.08053),
// norms and residuals over 1/tp of the sequence under sequence parallelism (Korthikanti et al.
// 2022, arXiv 2205.05198), weight gradients accumulated in fp32 by the GEMM, an unfused cross
// entropy. Latent attention: op_attention.cpp; experts: op_mlp.cpp; scaled precisions:
// docs/physics/cost.md.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/workload/op_kernel.hpp"

namespace windtunnel {

// The part of a sequence that a block works on: a stack's own tokens of a model with two.
SequenceSlice part_of(const Job& job, Block block, const SequenceSlice& slice);
// Tokens that its encoder reads for each of its decoder's.
double sources_per_token(const Job& job);

std::vector<Op> block_ops(const Job& job, Block block, Pass pass, const SequenceSlice& slice = {});

// What a module of TransformerSpec::mtp_layers does before its layer: tokens embedded once more, a
// norm of these and of what the layer before gave, and the matrix that brings both to one width
// (column parallel and gathered: Megatron-Core's multi_token_prediction.py).
std::vector<Op> joining_ops(const Job& job, Pass pass, const SequenceSlice& slice = {});

// The forward ops of a layer that recomputation repeats in the backward pass: those of the modules
// of Job::recompute, in their order.
std::vector<Op> recomputed_ops(const Job& job, Block block, const SequenceSlice& slice = {});

// What the backward pass of a Mamba layer of `rows` tokens makes again, and the gradients of its
// states.
double mamba_workspace_bytes(const Job& job, double rows);

// Of one element of a tensor as a linear layer's GEMM reads it, its share of a scale included:
// what tp gathers, because Transformer Engine quantises first.
double gemm_bytes_of(Precision precision);

// The same op where its pass leaves it out: it keeps its role, and costs nothing.
Op not_run(Op op);

// The product of this role; throws InternalError when it is not there.
const Op& product_of(const std::vector<Op>& ops, OpRole role);

}  // namespace windtunnel
