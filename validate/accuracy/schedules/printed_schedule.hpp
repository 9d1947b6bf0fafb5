// What tables of measured runs call a pipeline schedule.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace windtunnel {

struct PrintedSchedule {
  std::string name;  // of policies/schedules/schedules.hpp
  // The optimizer steps without waiting for the gradients' norm, see Software::post_validation.
  bool post_validation = false;
  int slices = 1;  // of a sequence
};

// "ZB-2p" -> zb-2p, "1F1B_I" -> interleaved-1f1b; case, '_' and what is in parentheses do not
// matter but for "all-reduce optimizer sync". None: not one that is known.
std::optional<PrintedSchedule> printed_schedule(std::string_view text);

}  // namespace windtunnel
