// What context parallelism adds to a layer's attention and nothing hides. Which bytes each form
// sends, with sources: docs/physics/cost.md, "Context parallelism".
//
// A ring (Megatron-Core's cp_comm_type p2p) sends step by step beside the attention over what the
// last step brought; each rank has an early and a late part of the sequence, so that all do the
// same work. RSA's rings run between its products, beside nothing. States of linear attention pass
// on beside the products inside the blocks, which do not need them. The all-to-alls of Ulysses
// stand between projection and attention, those of DSP between layers: all of them are exposed.
#pragma once

#include "models/cost/op/block_cost.hpp"
#include "models/network/groups/group_shape.hpp"
#include "models/workload/context_traffic.hpp"

namespace windtunnel {

// context_ring_shape(), context_exchange_shape().
struct ContextShapes {
  GroupShape ring;
  GroupShape exchange;
};

// Tensors of one layer's attention, as context_traffic() takes them.
ContextTensors context_tensors(const BlockSetting& setting);

// The rounds of one layer and direction, before any compute hides them.
struct ContextRounds {
  InnerRound exchange;  // all-to-alls
  InnerRound ring;
};
ContextRounds context_rounds(const BlockSetting& setting, const ContextShapes& shapes, Pass pass);

void add_context_parallel(const BlockSetting& setting, const ContextShapes& shapes, Block block,
                          const PassOps& ops, BlockCost& cost);

}  // namespace windtunnel
