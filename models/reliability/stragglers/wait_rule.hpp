// The one law by which a step, an exchange or a task waits for others: it goes ahead with the k-th
// of n, perhaps some time later, and never waits for longer than until all are there. What happens
// to the work of the others (dropped, repeated, redone) is the caller's. The mean of the k-th for a
// law of the arrivals: expected_factor() of models/machine/jitter.hpp. Outside stay volunteers,
// whose mean rates are all that is known, and SelectiveRepeat and the gossip of island_drift, which
// have their own order of whom to wait for.
#pragma once

#include <limits>
#include <span>

namespace windtunnel {

struct WaitRule {
  int missing = 0;  // n - k: the last to come, which it does without
  // Without all of them it goes ahead at this time at the earliest.
  double earliest = -std::numeric_limits<double>::infinity();
  double grace = 0;  // it waits this much longer after the k-th for those that it could do without
};

// When it goes ahead: min(last, max(earliest, k-th + grace)) of the arrivals, which it reorders. A
// member that never comes arrives at infinity. There is one arrival at least; where all may be
// missing, only `earliest` counts.
double end_of_wait(const WaitRule& rule, std::span<double> arrivals);

}  // namespace windtunnel
