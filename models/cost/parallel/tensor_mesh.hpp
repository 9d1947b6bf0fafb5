// Communication of two-dimensional tensor parallelism, all of it exposed: Optimus (Xu et al. 2021,
// arXiv 2104.05343), SUMMA on a mesh of q x q ranks (van de Geijn and Watts 1997). Each of the q
// steps of Y = X W broadcasts a block of X along its mesh row and one of W along its column; dX =
// dY W^T broadcasts W and reduces dX; dW = X^T dY broadcasts X and reduces dW. Norms and loss add
// sums, and the embedding lookup sends blocks of the vocabulary along columns.
//
// The paper's table 1 counts trees: (7 b s h + 12 h^2) log2(q) / q elements forward per layer, and
// the same for each of the two backward products. A broadcast here is NCCL's pipelined chain: the
// same without the logarithm, and q - 1 latency steps.
#pragma once

#include "models/cost/op/block_cost.hpp"
#include "models/network/groups/parallel_groups.hpp"

namespace windtunnel {

// `ops`: tensor_parallel_ops().
void add_tensor_mesh(const BlockSetting& setting, const MeshShapes& shapes, Block block,
                     const PassOps& ops, BlockCost& cost);

}  // namespace windtunnel
