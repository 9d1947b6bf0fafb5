// What context parallelism adds to a layer, exposed: a ring (Liu et al. 2023, arXiv 2310.01889;
// Megatron-Core's cp_comm_type p2p) passes K and V, backward their gradients too, hidden step by
// step behind attention; every rank has an early and a late piece of the sequence, so that all have
// the same work.
#pragma once

#include "models/block_cost.hpp"
#include "models/group_shape.hpp"

namespace windtunnel {

// `ring`: context_ring_shape().
void add_context_parallel(const BlockSetting& setting, const GroupShape& ring, const PassOps& ops,
                          BlockCost& cost);

}  // namespace windtunnel
