// Whether the messages between ranks of a lowered schedule
// (policies/evaluation/schedule_lowering.hpp) match.
#pragma once

#include <optional>
#include <string>

#include "models/plan/schedule.hpp"

namespace windtunnel {

struct ScheduleFault {
  int rank = 0;
  int position = 0;  // in the rank's list
  std::string what;
};

// Checks a schedule under torch's runtime: actions are issued in order, messages do not block, a
// result is waited for before it is used, and messages from one rank to another match in the order
// of issue. Every receive needs its send, and every result of another rank its receive; weights
// that are gathered at all must be gathered once, before use; gradients are reduced once, after the
// last weight gradient; no rank waits forever. A schedule without messages implies them; weights,
// reductions and deadlock are still checked. `schedule` must pass validate_schedule.
std::optional<ScheduleFault> find_message_fault(const Schedule& schedule);

// Throws Error that names rank and action.
void validate_messages(const Schedule& schedule);

}  // namespace windtunnel
