// Names of pipeline schedules in tables of measured runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace windtunnel {

struct PrintedSchedule {
  std::string name;  // of policies/schedules/schedules.hpp
  // The optimizer steps without waiting for the gradients' norm, see Software::post_validation.
  bool post_validation = false;
  int slices = 1;  // per sequence
};

// "ZB-2p" -> zb-2p, "1F1B_I" -> interleaved-1f1b. Ignores case, '_' and parentheses, except
// "all-reduce optimizer sync". None: unknown.
std::optional<PrintedSchedule> printed_schedule(std::string_view text);

}  // namespace windtunnel
