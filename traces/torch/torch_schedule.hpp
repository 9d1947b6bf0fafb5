// Reads and writes pipeline schedules as torch.distributed.pipelining does: a CSV whose row k is
// what pipeline rank k does, in order (torch/distributed/pipelining/schedules.py, pytorch
// 00722e64). A file that names messages (compute_comms) is in its final order; else it is
// compute_only.
//
// docs/physics/schedules.md, "Files of torch", explains the grammar of a cell, torch's two
// dialects, and our extension for actions that torch cannot express. Every error names the file,
// the line and, as column, the cell.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.hpp"
#include "models/plan/schedule.hpp"

namespace windtunnel {

enum class TorchDialect {
  current,  // I, W, B
  old,      // B, W, BW
};
// Returns "I, W, B" for the current dialect.
std::string_view letters_of(TorchDialect dialect);

struct TorchSchedule {
  Schedule schedule;  // named after the file; complete, in an order that every rank can run
  TorchDialect dialect = TorchDialect::current;
  bool messages = false;  // compute_comms: contains actions other than compute
  bool extended = false;  // uses the extension

  std::string file;
  int first_line = 1;                     // of rank 0
  std::vector<std::vector<int>> columns;  // [rank][position in its list]

  // The place of an action, for messages about it.
  Location place(int rank, int position) const;
};

// `dialect` is that of the file, if known. Otherwise the letters decide, or the actions that the
// other dialect would leave undone.
TorchSchedule parse_torch_schedule(std::string_view text, const std::string& file,
                                   std::optional<TorchDialect> dialect = std::nullopt);
TorchSchedule read_torch_schedule(const std::string& path,
                                  std::optional<TorchDialect> dialect = std::nullopt);

// Uses the current dialect and torch's line ends (CRLF). A schedule of compute alone is written in
// time steps of one action each, so that torch's lock-step runtime accepts it as well. Throws Error
// if the schedule needs the extension and `extended` is not set, or if it cannot be written at all.
std::string torch_schedule_text(const Schedule& schedule, bool extended = false);

// Why torch cannot read the schedule; empty if it can.
std::string needed_extension(const Schedule& schedule);

}  // namespace windtunnel
