// Recognises passes and axes of the layout by the names that programs give to ranges and process
// groups.
#pragma once

#include <optional>
#include <string_view>

#include "models/plan/plan.hpp"
#include "models/plan/schedule.hpp"

namespace windtunnel {

struct NamedPass {
  ActionKind kind = ActionKind::forward;
  int stage = -1;  // -1: not in the name
  int microbatch = -1;
  bool operator==(const NamedPass&) const = default;
};

// Recognises a pass by the name of the range in which it runs: in PyTorch's pipelines ("Forward 0",
// "PP:0F1"), in Megatron-LM ("forward_step") and in programs with similar names. Returns nothing if
// the range is not a pass.
std::optional<NamedPass> pass_of_range(std::string_view name);

// Finds the axis along which a process group lies from its description (pg_desc): a name in
// Megatron's parallel_state ("PIPELINE_MODEL_PARALLEL_GROUP"), a name of PyTorch's DeviceMesh
// ("mesh_dp_shard"), or the axis itself ("tp"). Returns nothing if the description does not say it.
// A group over data parallelism and another axis is dp.
std::optional<Category> axis_of_group(std::string_view described);

// Whether a data-parallel group connects copies of sharded weights ("mesh_dp_replicate" in hybrid
// sharding), so that additional replicas join it.
bool joins_replicas(std::string_view described);

}  // namespace windtunnel
