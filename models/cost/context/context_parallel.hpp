// What context parallelism adds to a layer, exposed; which bytes each form sends, and sources:
// context_traffic.hpp.
//
// A ring (Megatron-Core's cp_comm_type p2p) runs step by step beside the attention over what the
// last step brought; every rank has an early and a late piece of the sequence, so that all have the
// same work. RSA's rings stand between its products, beside nothing. The states of linear attention
// pass from rank to rank beside the products inside the blocks, which need none. All-to-alls of
// Ulysses wait for the projection and attention for them, those of DSP stand between layers: all
// exposed.
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

// Of one layer's attention, as context_traffic() takes it.
ContextTensors context_tensors(const BlockSetting& setting);

// Of one layer and direction on an idle network, before anything hides it.
struct ContextSeconds {
  double exchange_s = 0;  // all-to-alls
  double ring_s = 0;
  Origin exchange_origin = Origin::assumed;
  Origin ring_origin = Origin::assumed;
};
ContextSeconds context_seconds(const BlockSetting& setting, const ContextShapes& shapes, Pass pass);

void add_context_parallel(const BlockSetting& setting, const ContextShapes& shapes,
                          const PassOps& ops, BlockCost& cost);

}  // namespace windtunnel
