// Accounts in simulations for the bytes that ports of a testbed pass at once after a pause
// (validate/harness/execute/testbed.hpp). A bucket of b bytes fills at the rate r of its port: of m
// bytes sent after a pause p, only m - min(b, r p) take time.
#pragma once

#include "validate/accuracy/execution/executed_plan.hpp"

namespace windtunnel {

// The plan with messages and collectives reduced by these bytes; unchanged without a testbed.
// `predicted` is for the unchanged plan, and determines the pauses.
ExecutedPlan with_bursts(const ExecutedPlan& executed, const Timeline& predicted,
                         const ExecutionScale& scale);

}  // namespace windtunnel
