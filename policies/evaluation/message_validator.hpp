// Whether the ranks of a lowered schedule (policies/evaluation/schedule_lowering.hpp) can talk to
// each other.
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

// Under torch's runtime: actions are issued in order, messages do not block, a result is waited for
// before it is used, and the messages from one rank to another match in the order in which they are
// issued. Every receive needs its send and every result of another rank its receive; weights that
// are gathered at all are gathered before use, once; gradients are reduced once, after the last
// weight gradient; nobody waits forever. A schedule without messages implies them: only the last is
// asked of it. `schedule` passes validate_schedule.
std::optional<ScheduleFault> find_message_fault(const Schedule& schedule);

// Throws Error that names rank and action.
void validate_messages(const Schedule& schedule);

}  // namespace windtunnel
