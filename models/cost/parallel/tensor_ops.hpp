// The kernels of a block as tensor parallelism cuts them. In one dimension op.hpp's own; with
// Software::tp_overlap domino or sub-pipelined those of one row slice of the micro-batch after the
// other, and domino's row-parallel GEMM in pieces of its output (Wang et al. 2024, arXiv
// 2409.15241, sections 3.2 and 3.3; its backward pass multiplies them whole). In two dimensions
// (Layout::tensor) SUMMA on a mesh of q x q ranks (Xu et al. 2021, arXiv 2104.05343): each GEMM is
// q GEMMs, all sides divided by q, and every activation is divided by q x q. Small GEMMs are
// slower: op_cost.hpp.
#pragma once

#include <vector>

#include "models/cost/op/block_cost.hpp"
#include "models/cost/op/op.hpp"

namespace windtunnel {

// Row slices of a micro-batch in a layer.
int tensor_slices(const Job& job);
// Pieces of the row-parallel GEMM's output.
int tensor_columns(const Job& job);

// One slice's ops after the other's, all slices alike.
PassOps tensor_parallel_ops(const Job& job, Block block, const SequenceSlice& slice);
// Forward ops that recomputation repeats.
std::vector<Op> tensor_parallel_recomputed(const Job& job, Block block, const SequenceSlice& slice);

// Throws Error that names the key where Software::tp_overlap does not go with the job.
void check_tensor_overlap(const Job& job);

}  // namespace windtunnel
