// Which pass a range of the program's own stands for, by its name: of PyTorch's pipelines
// ("Forward 0", "PP:0F1"), of Megatron-LM ("forward_step") and of programs that name them alike.
#pragma once

#include <optional>
#include <string_view>

#include "models/plan/plan.hpp"
#include "models/plan/schedule.hpp"

namespace windtunnel {

struct NamedPass {
  ActionKind kind = ActionKind::forward;
  int stage = -1;  // -1: the name does not tell
  int microbatch = -1;
  bool operator==(const NamedPass&) const = default;
};

// None: it is of something else.
std::optional<NamedPass> pass_of_range(std::string_view name);

// Which axis of the layout a process group lies along, by its description (pg_desc): of Megatron's
// parallel_state ("PIPELINE_MODEL_PARALLEL_GROUP"), of PyTorch's DeviceMesh ("mesh_dp_shard"), or
// the axis itself ("tp").

// None: the description does not say. A group over data parallelism and another axis is dp.
std::optional<Category> axis_of_group(std::string_view described);

// Of groups of data parallelism those between copies of sharded weights ("mesh_dp_replicate", of
// hybrid sharding), which more replicas join.
bool joins_replicas(std::string_view described);

}  // namespace windtunnel
