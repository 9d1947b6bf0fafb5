// The pass in a range that the program marks, from the range's name: in PyTorch's pipelines
// ("Forward 0", "PP:0F1"), in Megatron-LM ("forward_step") and in programs with similar names.
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

// Nothing if the range is not a pass.
std::optional<NamedPass> pass_of_range(std::string_view name);

// Which axis of the layout a process group lies along, by its description (pg_desc): of Megatron's
// parallel_state ("PIPELINE_MODEL_PARALLEL_GROUP"), of PyTorch's DeviceMesh ("mesh_dp_shard"), or
// the axis itself ("tp").

// None: the description does not say. A group over data parallelism and another axis is dp.
std::optional<Category> axis_of_group(std::string_view described);

// Whether a data-parallel group connects copies of sharded weights ("mesh_dp_replicate" in hybrid
// sharding), so that additional replicas join it.
bool joins_replicas(std::string_view described);

}  // namespace windtunnel
