// How much of its time a job is expected to wait for nodes in repair. Trials of a campaign see that
// only when more nodes than there are spares happen to be out at once, which few trials may show.
#pragma once

#include <vector>

#include "models/reliability/failure_process.hpp"

namespace windtunnel {

// Mean of what draw_repair_s() draws, if no repair takes more than `most_s`.
double mean_repair_s(const RepairTime& repair, double most_s);

// Seconds of the first `length_s` in which more than `spares` nodes are in repair, were every place
// filled at once. Behind a time t without repairs their number is Poisson, with as mean the
// failures per second times mean_repair_s(t), whatever the law of the repairs: M/G/infinity
// (Takacs, Introduction to the Theory of Queues, 1962, chapter 3). Batches count by their mean; a
// trace, which brings the same failures in every trial, does not count.
double expected_wait_s(const std::vector<FailureClass>& failures, int nodes, int spares,
                       double length_s);

}  // namespace windtunnel
