// What tensor parallelism adds to a block, exposed, as Megatron-LM runs it (Korthikanti et al.
// 2022, arXiv 2205.05198, figure 5): forward all-gather and reduce-scatter around attention and
// around the MLP (without sequence parallelism an all-reduce after each); backward the all-gather
// of the two row-parallel layers' gradients. Hidden as far as the GEMM beside it lasts: the second
// all-gather of a column-parallel layer's input (behind its input gradient) and the reduction of
// its input gradient (behind its weight gradient, so I counts only what W does not cover; a
// schedule that takes W away from I exposes it in full, which is not counted). That the GEMM slows
// down meanwhile is not counted either. Gathered tensors travel quantised. Latent attention gathers
// its latents in place of the layer's input. Experts are whole: of a layer with them tp divides the
// shared one only.
//
// Software::tp_overlap hides more:
//   pipelined      gathers and scatters and their GEMM are cut into tp pieces, of which all but
//                  one are hidden behind it
//   domino         the micro-batch is cut into row slices: what follows one slice's half (attention
//                  or MLP) runs beside the next slice's, the last one's beside the first slice of
//                  the next half; row-parallel GEMMs are cut into columns, of which all but the
//                  last are reduced beside the next (Wang et al. 2024, arXiv 2409.15241, section 3)
//   sub-pipelined  two row slices, no columns (Merak: Lai et al. 2022, arXiv 2206.04959)
//   fused          a reduce-scatter runs with the GEMM that writes its tiles, at no cost to it (T3:
//                  Pati et al. 2024, arXiv 2401.16677); the other half of an all-reduce follows
//   ladder         what follows a half runs beside the next half, which reads the sum before
//                  (Ladder-residual: Zhang et al. 2025, arXiv 2501.06589: another model)
// Compute beside the collectives of domino, sub-pipelined and ladder slows down by
// Calibration::overlap_slowdown; a chunk's last slice has nothing beside it (BlockCost::*_end).
#pragma once

#include "models/cost/op/block_cost.hpp"
#include "models/network/groups/group_shape.hpp"

namespace windtunnel {

// `shape`: tensor_group_shape(); `ops`: tensor_parallel_ops().
void add_tensor_parallel(const BlockSetting& setting, const GroupShape& shape, Block block,
                         const PassOps& ops, BlockCost& cost);

}  // namespace windtunnel
