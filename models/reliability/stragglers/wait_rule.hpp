// The rule by which a step, an exchange or a task waits for others: it proceeds at the k-th of n
// arrivals, perhaps some time later, but at the latest when all are there. What happens to the
// others' work (dropped, repeated, redone) is up to the caller. The k-th arrival has the mean
// expected_factor() of models/machine/jitter.hpp. The rule does not hold for volunteers, for whom
// only mean rates are known, and for SelectiveRepeat and the gossip of island_drift, which choose
// by their own rules whom to wait for.
#pragma once

#include <limits>
#include <span>

namespace windtunnel {

struct WaitRule {
  int missing = 0;  // n - k: the last arrivals, which are not needed
  // Unless all are there, the wait does not end earlier than this.
  double earliest = -std::numeric_limits<double>::infinity();
  double grace = 0;  // additional time after the k-th in which it waits for the rest
};

// Returns the end of the wait: min(last, max(earliest, k-th + grace)) of the arrivals, which are
// reordered. A member that never comes arrives at infinity. There must be an arrival; if all may be
// missing, only `earliest` counts.
double end_of_wait(const WaitRule& rule, std::span<double> arrivals);

}  // namespace windtunnel
