// What the collectives of tensor parallelism add to a block and no kernel hides. How the weights of
// its products lie (Layout::signatures) says how their operands must and their results do, and each
// change between two is a collective (sbp.hpp). Megatron-LM's (Korthikanti et al. 2022, arXiv
// 2205.05198, figure 5) come out as all-gathers and reduce-scatters, or all-reduces, around
// attention and around the MLP. Some run beside a GEMM of the backward pass.
//
// Software::tp_overlap hides more (pipelined, domino, sub-pipelined, fused, ladder, kraken). What
// each hides behind what, with sources, and what is not counted: docs/physics/cost.md, "Tensor
// parallelism". Two dimensions: tensor_mesh.hpp; kernels that are cut: tensor_ops.hpp; kernels that
// are slowed down: Calibration::overlap_slowdown.
#pragma once

#include "models/cost/op/block_cost.hpp"
#include "models/network/groups/group_shape.hpp"

namespace windtunnel {

// `shape`: tensor_group_shape(); `ops`: tensor_parallel_ops().
void add_tensor_parallel(const BlockSetting& setting, const GroupShape& shape, Block block,
                         const PassOps& ops, BlockCost& cost);

}  // namespace windtunnel
