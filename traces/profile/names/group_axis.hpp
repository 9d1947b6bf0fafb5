// Which axis of the layout a process group lies along, by its description (pg_desc): of Megatron's
// parallel_state ("PIPELINE_MODEL_PARALLEL_GROUP"), of PyTorch's DeviceMesh ("mesh_dp_shard"), or
// the axis itself ("tp").
#pragma once

#include <optional>
#include <string_view>

#include "models/plan/plan.hpp"

namespace windtunnel {

// None: the description does not say. A group over data parallelism and another axis is dp.
std::optional<Category> axis_of_group(std::string_view described);

// Of groups of data parallelism those between copies of sharded weights ("mesh_dp_replicate", of
// hybrid sharding), which more replicas join.
bool joins_replicas(std::string_view described);

}  // namespace windtunnel
