// Converts between a cell of a torch schedule (torch_schedule.hpp) and actions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/plan/schedule.hpp"

namespace windtunnel {

// An action as written in the file, before the numbers of directions, slices and micro-batches are
// known. `kind` is that of the current dialect; `old_full` means "BW".
struct TorchAction {
  ActionKind kind = ActionKind::forward;
  bool old_full = false;
  bool with_next = false;
  int direction = 0;
  int stage = 0;
  int iteration = 0;
  int microbatch = 0;
  int slice = 0;
  int column = 0;  // within the cell

  bool has_unit() const;
  bool extended() const;
  std::string text() const;
};

// None for an idle cell, two for an overlapped pair. Throws Error without a location that says what
// is wrong with the cell.
std::vector<TorchAction> parse_torch_cell(std::string_view cell);

}  // namespace windtunnel
