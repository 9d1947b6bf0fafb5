// Exposed communication of expert parallelism in a layer with experts: an all-to-all of one copy
// per token and expert to the experts and one back, in the forward and the backward pass. The
// busiest rank determines the time (models/workload/expert_routing.hpp).
//
// Merged dispatch, locality, dropped duplicates (TED), hot experts (Hecate), and overlap with
// compute: docs/physics/cost.md, "Expert parallelism".
#pragma once

#include <vector>

#include "models/cost/op/block_cost.hpp"
#include "models/network/groups/group_shape.hpp"
#include "models/network/groups/uneven_exchange.hpp"

namespace windtunnel {

// `shape`: expert_group_shape(), tp_shape: tensor_group_shape(). `cost` already has the layer's
// compute and its tp and cp parts, equal to those of the micro-batch that overlaps them.
void add_expert_parallel(const BlockSetting& setting, const GroupShape& shape,
                         const GroupShape& tp_shape, const PassOps& ops, BlockCost& cost);

// How the all-to-alls of a step divide their bytes if they are uneven (InnerCollective::exchange):
// one entry for all layers, or one per layer with experts; empty if all are even.
std::vector<UnevenExchange> expert_exchanges(const Job& job);

// Bytes per GPU of the copies of one layer's hot experts: weights, and in the backward pass
// gradients.
double hot_expert_bytes(const Job& job);

// Throws Error, with the key first, if a routing does not fit the model or its layout.
void check_expert_routing(const Job& job);

}  // namespace windtunnel
