// What expert parallelism adds to a layer with experts, exposed: an all-to-all of one copy per
// token and expert to the experts and one back, forward and again backward; the busiest rank's
// share: expert_routing.hpp.
//
// Software::ep_merged sends one copy per node (DeepEP, HybridEP; that a router may limit the nodes
// is not counted). MixtureOfExperts::locality leaves a share of the copies in the node (LocMoE).
// Layout::ep_tokens: the ranks of a tp group that hold the same tokens send each all of them, or
// drop the duplicates and gather over tp what arrives, after both all-to-alls (TED; its experts,
// which tp divides, count as whole ones for 1/tp of the tokens).
//
// Hidden, as far as the compute beside them lasts: Software::ep_overlap behind the other direction
// of the same layer, of another micro-batch (Megatron-Core's overlap_moe_expert_parallel_comm,
// DualPipe; that the first and last micro-batches have no other is not counted);
// MixtureOfExperts::shortcut behind all of the layer but its experts, backward its weight gradients
// too (ScMoE; the dense MLP of the layer before, which may help, is not counted);
// Software::tp_overlap behind the shared expert (moe_shared_expert_overlap).
//
// Hot experts (Hecate): their weights are gathered ahead of both passes and their gradients
// reduce-scattered behind the backward, beside what is left of that same compute.
#pragma once

#include "models/cost/op/block_cost.hpp"
#include "models/network/groups/group_shape.hpp"

namespace windtunnel {

// `shape`: expert_group_shape(), tp_shape: tensor_group_shape(). `cost` holds the layer's compute
// and its tp and cp parts: the other micro-batch has the same.
void add_expert_parallel(const BlockSetting& setting, const GroupShape& shape,
                         const GroupShape& tp_shape, const PassOps& ops, BlockCost& cost);

// Copies of hot experts on a GPU, of one layer: weights, and in the backward pass their gradients.
double hot_expert_bytes(const Job& job);

// Throws Error, with the key first, for a routing that does not fit the model or its layout.
void check_expert_routing(const Job& job);

}  // namespace windtunnel
