// What expert parallelism adds to a layer with experts and no compute hides: an all-to-all of one
// copy per token and expert to the experts and one back, forward and again backward. The busiest
// rank decides (models/workload/expert_routing.hpp).
//
// Merged dispatch, locality, dropped duplicates (TED), hot experts (Hecate), and what is hidden
// behind which compute: docs/physics/cost.md, "Expert parallelism".
#pragma once

#include <vector>

#include "models/cost/op/block_cost.hpp"
#include "models/network/groups/group_shape.hpp"
#include "models/network/groups/uneven_exchange.hpp"

namespace windtunnel {

// `shape`: expert_group_shape(), tp_shape: tensor_group_shape(). `cost` holds the layer's compute
// and its tp and cp parts: the other micro-batch has the same.
void add_expert_parallel(const BlockSetting& setting, const GroupShape& shape,
                         const GroupShape& tp_shape, const PassOps& ops, BlockCost& cost);

// How the all-to-alls of a step divide their bytes where they are uneven
// (InnerCollective::exchange): one entry for all layers, or one for each layer with experts. The
// list is empty where all are even.
std::vector<UnevenExchange> expert_exchanges(const Job& job);

// Copies of hot experts on a GPU, of one layer: weights, and in the backward pass their gradients.
double hot_expert_bytes(const Job& job);

// Throws Error, with the key first, for a routing that does not fit the model or its layout.
void check_expert_routing(const Job& job);

}  // namespace windtunnel
