// The share of time in which a job is expected to wait for nodes in repair. Trials of a campaign
// see such waits only if more nodes than spares are out at once, which may be rare in few trials.
#pragma once

#include <vector>

#include "models/reliability/failure_process.hpp"

namespace windtunnel {

// Mean of draw_repair_s(), if no repair takes more than `most_s`.
double mean_repair_s(const RepairTime& repair, double most_s);

// Seconds of the first `length_s` in which more than `spares` nodes are in repair, if every failed
// node were replaced at once. A time t after the start the number in repair is Poisson with mean
// failures per second times mean_repair_s(t), for any law of repairs: M/G/infinity (Takacs,
// Introduction to the Theory of Queues, 1962, chapter 3). Batches count by their mean size; traces
// are excluded, since all trials have the same ones.
double expected_wait_s(const std::vector<FailureClass>& failures, int nodes, int spares,
                       double length_s);

}  // namespace windtunnel
