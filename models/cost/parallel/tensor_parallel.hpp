// Exposed collectives of tensor parallelism in a block. The splits of its weights
// (Layout::signatures) determine how operands and results of products are distributed, and each
// change of distribution is a collective (sbp.hpp). Megatron-LM's splits (Korthikanti et al. 2022,
// arXiv 2205.05198, figure 5) give all-gathers and reduce-scatters, or all-reduces, around
// attention and around the MLP. Some overlap a GEMM of the backward pass.
//
// Software::tp_overlap hides more (pipelined, domino, sub-pipelined, fused, ladder, kraken). What
// each overlaps, with sources, and what is not counted: docs/physics/cost.md, "Tensor parallelism".
// Two dimensions: tensor_mesh.hpp; cut kernels: tensor_ops.hpp; slowdown of overlapped kernels:
// Calibration::overlap_slowdown.
#pragma once

#include "models/cost/op/block_cost.hpp"
#include "models/network/groups/group_shape.hpp"

namespace windtunnel {

// The caller passes tensor_group_shape() as `shape` and tensor_parallel_ops() as `ops`.
void add_tensor_parallel(const BlockSetting& setting, const GroupShape& shape, Block block,
                         const PassOps& ops, BlockCost& cost);

}  // namespace windtunnel
