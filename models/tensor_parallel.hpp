// What tensor parallelism adds to a block, exposed, as Megatron-LM runs it (Korthikanti et al.
// 2022, arXiv 2205.05198, figure 5): forward all-gather and reduce-scatter around attention and
// around the MLP (without sequence parallelism an all-reduce after each); backward the all-gather
// of the two row-parallel layers' gradients. Software::tp_overlap cuts these and their GEMM into tp
// pieces and hides all but one behind it. Hidden as far as the GEMM beside it lasts: the second
// all-gather of a column-parallel layer's input (behind its input gradient) and the reduction of
// its input gradient (behind its weight gradient, so I counts only what W does not cover; a
// schedule that takes W away from I exposes it in full, which is not counted). That the GEMM slows
// down meanwhile is not counted either. Gathered tensors travel quantised. Latent attention gathers
// its latents in place of the layer's input. Experts are whole: of a layer with them tp divides the
// shared one only.
#pragma once

#include "models/block_cost.hpp"
#include "models/group_shape.hpp"

namespace windtunnel {

// `shape`: tensor_group_shape().
void add_tensor_parallel(const BlockSetting& setting, const GroupShape& shape, Block block,
                         const PassOps& ops, BlockCost& cost);

}  // namespace windtunnel
