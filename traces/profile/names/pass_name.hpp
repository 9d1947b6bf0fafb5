// The pass in a range that the program marks, from the range's name: in PyTorch's pipelines
// ("Forward 0", "PP:0F1"), in Megatron-LM ("forward_step") and in programs with similar names.
#pragma once

#include <optional>
#include <string_view>

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

}  // namespace windtunnel
