// Which pass a range of the program's own stands for, by its name: of PyTorch's pipelines
// ("Forward 0", "PP:0F1"), of Megatron-LM ("forward_step") and of programs that name them alike.
#pragma once

#include <optional>
#include <string_view>

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

}  // namespace windtunnel
