// What tensor parallelism in two dimensions sends, all of it exposed: Optimus (Xu et al. 2021,
// arXiv 2104.05343), SUMMA on a mesh of q x q ranks (van de Geijn and Watts 1997). Each of the q
// steps of Y = X W broadcasts a block of X in its row of the mesh and one of W in its column; of dX
// = dY W^T broadcasts W and reduces dX; of dW = X^T dY broadcasts X and reduces dW. The norms and
// the loss add sums, and the lookup sends the vocabulary's blocks down the columns.
//
// The paper's table 1 counts trees: (7 b s h + 12 h^2) log2(q) / q elements forward for a layer, so
// much again for each of the two backward products. A broadcast here is NCCL's pipelined chain:
// the same without the logarithm, and q - 1 steps of latency.
#pragma once

#include "models/cost/op/block_cost.hpp"
#include "models/network/groups/parallel_groups.hpp"

namespace windtunnel {

// `ops`: tensor_parallel_ops().
void add_tensor_mesh(const BlockSetting& setting, const MeshShapes& shapes, Block block,
                     const PassOps& ops, BlockCost& cost);

}  // namespace windtunnel
