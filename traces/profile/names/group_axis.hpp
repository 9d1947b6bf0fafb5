// The layout axis of a process group, from its description (pg_desc): from Megatron's
// parallel_state ("PIPELINE_MODEL_PARALLEL_GROUP"), from PyTorch's DeviceMesh ("mesh_dp_shard"), or
// the axis itself ("tp").
#pragma once

#include <optional>
#include <string_view>

#include "models/plan/plan.hpp"

namespace windtunnel {

// Nothing if the description does not tell. A group over data parallelism and another axis is dp.
std::optional<Category> axis_of_group(std::string_view described);

// Whether a data-parallel group connects copies of sharded weights ("mesh_dp_replicate" in hybrid
// sharding), so that additional replicas join it.
bool joins_replicas(std::string_view described);

}  // namespace windtunnel
