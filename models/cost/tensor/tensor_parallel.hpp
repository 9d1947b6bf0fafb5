// What the collectives of tensor parallelism add to a block and no kernel hides, as Megatron-LM
// runs it (Korthikanti et al. 2022, arXiv 2205.05198, figure 5): all-gathers and reduce-scatters
// around attention and around the MLP, of which some run beside a GEMM of the backward pass.
//
// Software::tp_overlap hides more (pipelined, domino, sub-pipelined, fused, ladder). What each
// hides behind what, with sources, and what is not counted: docs/cost.md, "Tensor parallelism". Two
// dimensions: tensor_mesh.hpp; kernels that are cut: tensor_ops.hpp; kernels that are slowed down:
// Calibration::overlap_slowdown.
#pragma once

#include "models/cost/op/block_cost.hpp"
#include "models/network/groups/group_shape.hpp"

namespace windtunnel {

// `shape`: tensor_group_shape(); `ops`: tensor_parallel_ops().
void add_tensor_parallel(const BlockSetting& setting, const GroupShape& shape, Block block,
                         const PassOps& ops, BlockCost& cost);

}  // namespace windtunnel
