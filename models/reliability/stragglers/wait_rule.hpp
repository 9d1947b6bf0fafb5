// The rule by which a step, an exchange or a task waits for others: it proceeds at the k-th of n
// arrivals, perhaps some time later, but at the latest when all are there. What happens to the
// others' work (dropped, repeated, redone) is up to the caller. Mean of the k-th arrival:
// expected_factor() of models/machine/jitter.hpp. Not covered: volunteers, for whom only mean rates
// are known, and SelectiveRepeat and the gossip of island_drift, which choose by their own rules
// whom to wait for.
#pragma once

#include <limits>
#include <span>

namespace windtunnel {

struct WaitRule {
  int missing = 0;  // n - k: the last arrivals, which are not needed
  // Unless all are there, it does not proceed earlier than this.
  double earliest = -std::numeric_limits<double>::infinity();
  double grace = 0;  // additional time after the k-th in which it waits for the rest
};

// When it proceeds: min(last, max(earliest, k-th + grace)) of the arrivals, which are reordered. A
// member that never comes arrives at infinity. At least one arrival; if all may be missing, only
// `earliest` counts.
double end_of_wait(const WaitRule& rule, std::span<double> arrivals);

}  // namespace windtunnel
