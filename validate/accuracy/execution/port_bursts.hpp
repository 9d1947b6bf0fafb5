// What the ports of a testbed let pass at once behind a pause
// (validate/harness/execute/testbed.hpp), taken off what is simulated. A bucket of b bytes fills at
// the rate r of its port: of m bytes that are sent after a pause of p only m - min(b, r p) take
// time.
#pragma once

#include "validate/accuracy/execution/executed_plan.hpp"

namespace windtunnel {

// The plan with messages and collectives that are shorter by that; as it is where it does not run
// on a testbed. `predicted`: of the plan as it is, which tells the pauses.
ExecutedPlan with_bursts(const ExecutedPlan& executed, const Timeline& predicted,
                         const ExecutionScale& scale);

}  // namespace windtunnel
