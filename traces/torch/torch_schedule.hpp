// Pipeline schedules as torch.distributed.pipelining reads and writes them: a CSV whose row k is
// what pipeline rank k does, in order (torch/distributed/pipelining/schedules.py, pytorch
// 00722e64).
//
//   cell    := "" | action | "(" action ";" action ")OVERLAP_F_B"
//   action  := stage type [micro-batch]         "3F1", "2UNSHARD", "1SEND_F0"
//
// An empty cell is an idle time step. A file that names messages (compute_comms) is in its final
// order and has none; else it is compute_only. Stages count over all ranks; which rank has which is
// inferred. Torch matches a prefix of a cell and takes what follows it for granted; here the whole
// cell must be an action.
//
// Dialects: today I is the input gradient and B the full backward; an older release wrote B and BW.
//
// An extension, which torch does not read, holds what torch has no words for: replicated stages,
// slices of a sequence, several iterations without a flush, recomputation.
//
//   action  := stage ["@" direction] type [[iteration ":"] micro-batch ["." slice]]
//   type    := ... | "R"
//
// Numbers that are 0 are left out. The row "#recompute" before the first rank says that
// recomputation is in R actions only where none of them says so.
//
// Every error names the file, the line and, as column, the cell.
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
// "I, W, B".
std::string_view letters_of(TorchDialect dialect);

struct TorchSchedule {
  Schedule schedule;  // named after the file; complete, in an order of which each rank is capable
  TorchDialect dialect = TorchDialect::current;
  bool messages = false;  // compute_comms: holds actions that are no compute
  bool extended = false;  // uses the extension

  std::string file;
  int first_line = 1;                     // of rank 0
  std::vector<std::vector<int>> columns;  // [rank][position in its list]

  // Of an action, for messages about it.
  Location place(int rank, int position) const;
};

// `dialect`: what the file is known to be written in; else it is found from the letters and from
// what they would leave undone.
TorchSchedule parse_torch_schedule(std::string_view text, const std::string& file,
                                   std::optional<TorchDialect> dialect = std::nullopt);
TorchSchedule read_torch_schedule(const std::string& path,
                                  std::optional<TorchDialect> dialect = std::nullopt);

// In the current dialect, lines end as torch's (CRLF). Compute alone is laid out in time steps, of
// one action each, so that torch's lock-step runtime takes it as well. Throws Error when the
// schedule needs the extension and `extended` is not set, or cannot be written at all.
std::string torch_schedule_text(const Schedule& schedule, bool extended = false);

// Why torch cannot read the schedule; empty if it can.
std::string needed_extension(const Schedule& schedule);

}  // namespace windtunnel
