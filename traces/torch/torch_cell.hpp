// One cell of a torch schedule (torch_schedule.hpp) to actions and back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/plan/schedule.hpp"

namespace windtunnel {

// An action as it stands in the file, before one knows how many directions, slices and
// micro-batches there are. `kind` is that of the current dialect; `old_full` is "BW".
struct TorchAction {
  ActionKind kind = ActionKind::forward;
  bool old_full = false;
  bool with_next = false;
  int direction = 0;
  int stage = 0;
  int iteration = 0;
  int microbatch = 0;
  int slice = 0;
  int column = 0;  // of the cell

  bool has_unit() const;
  bool extended() const;
  std::string text() const;
};

// None of an idle cell, two of an overlapped pair. Throws Error, without a location, that says what
// is wrong with the cell.
std::vector<TorchAction> parse_torch_cell(std::string_view cell);

}  // namespace windtunnel
