// Checks that the messages between ranks of a lowered schedule match
// (policies/evaluation/schedule_lowering.hpp).
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

// Checks a schedule by the rules of torch's runtime: actions are issued in order, messages do not
// block, a rank waits for a result before it uses it, and messages from one rank to another match
// in the order of issue. The checks are: every receive has its send, and every result of another
// rank its receive; weights, if gathered at all, are gathered once, before use; gradients are
// reduced once, after the last weight gradient; no rank waits forever. In a schedule without
// messages every result arrives by itself; weights, reductions and deadlock are still checked.
// `schedule` must pass validate_schedule.
std::optional<ScheduleFault> find_message_fault(const Schedule& schedule);

// Throws Error that names rank and action.
void validate_messages(const Schedule& schedule);

}  // namespace windtunnel
