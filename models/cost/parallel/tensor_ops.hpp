// The kernels of a block under tensor parallelism. In one dimension they are op.hpp's. With
// Software::tp_overlap domino or sub-pipelined, row slices of the micro-batch follow each other,
// and domino cuts the output of row-parallel GEMMs into pieces (Wang et al. 2024, arXiv 2409.15241,
// sections 3.2 and 3.3; its backward pass does not cut them). In two dimensions (Layout::tensor),
// SUMMA on a mesh of q x q ranks (Xu et al. 2021, arXiv 2104.05343): each GEMM becomes q GEMMs with
// all sides divided by q, and activations are divided by q x q. Small GEMMs are less efficient:
// op_cost.hpp.
#pragma once

#include <vector>

#include "models/cost/op/block_cost.hpp"
#include "models/cost/op/op.hpp"

namespace windtunnel {

// A layer runs a micro-batch in this number of row slices.
int tensor_slices(const Job& job);
// A row-parallel GEMM's output is cut into this number of pieces.
int tensor_columns(const Job& job);

// The ops of all slices, one slice after the other; all slices are equal.
PassOps tensor_parallel_ops(const Job& job, Block block, const SequenceSlice& slice);
// Forward ops that are recomputed.
std::vector<Op> tensor_parallel_recomputed(const Job& job, Block block, const SequenceSlice& slice);

// Throws Error that names the key if Software::tp_overlap does not suit the job.
void check_tensor_overlap(const Job& job);

}  // namespace windtunnel
