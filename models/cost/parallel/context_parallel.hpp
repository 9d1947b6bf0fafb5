// Exposed communication that context parallelism adds to a layer's attention. Bytes of each form,
// with sources: docs/physics/cost.md, "Context parallelism".
//
// A ring (Megatron-Core's cp_comm_type p2p) sends step by step while attention processes what the
// last step brought; each rank has an early and a late part of the sequence, so that all have equal
// work. RSA's rings run between its products without overlap. States of linear attention are sent
// while the products inside blocks run, which do not need them. The all-to-alls of Ulysses are
// between projection and attention, those of DSP between layers: all are exposed.
#pragma once

#include "models/cost/op/block_cost.hpp"
#include "models/network/groups/group_shape.hpp"
#include "models/workload/context_traffic.hpp"

namespace windtunnel {

// The results of context_ring_shape() and context_exchange_shape().
struct ContextShapes {
  GroupShape ring;
  GroupShape exchange;
};

// Returns the tensors of one layer's attention that context_traffic() needs.
ContextTensors context_tensors(const BlockSetting& setting);

// The rounds of one layer and direction, without overlapping compute.
struct ContextRounds {
  InnerRound exchange;  // all-to-alls
  InnerRound ring;
};
ContextRounds context_rounds(const BlockSetting& setting, const ContextShapes& shapes, Pass pass);

void add_context_parallel(const BlockSetting& setting, const ContextShapes& shapes, Block block,
                          const PassOps& ops, BlockCost& cost);

}  // namespace windtunnel
