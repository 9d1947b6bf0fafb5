// What expert parallelism adds to a layer with experts, exposed: an all-to-all of one copy per
// token and expert to the experts and one back, forward and again backward; the busiest rank's
// share is MixtureOfExperts::imbalance times the mean. Software::ep_merged sends one copy per node
// (DeepEP, HybridEP; that a router may limit the nodes is not counted). Software::ep_overlap hides
// them behind the other direction of the same layer, of another micro-batch (Megatron-Core's
// overlap_moe_expert_parallel_comm, DualPipe; that the first and last micro-batches have no other
// is not counted); Software::tp_overlap alone behind the shared expert
// (moe_shared_expert_overlap).
#pragma once

#include "models/block_cost.hpp"
#include "models/group_shape.hpp"

namespace windtunnel {

// `shape`: expert_group_shape(). `cost` holds the layer's compute and its tp and cp parts: the
// other micro-batch has the same.
void add_expert_parallel(const BlockSetting& setting, const GroupShape& shape, const PassOps& ops,
                         BlockCost& cost);

}  // namespace windtunnel
