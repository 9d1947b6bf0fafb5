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

// Reads "ZB-2p" as zb-2p, "1F1B_I" as interleaved-1f1b. Case does not matter, '_' counts as '-',
// and what begins with a parenthesis is ignored, except "all-reduce optimizer sync". Returns
// nothing for an unknown name.
std::optional<PrintedSchedule> printed_schedule(std::string_view text);

}  // namespace windtunnel
