// The faults of a cluster on which no job runs: what a set of failure classes looks like as a log,
// to be fitted, compared with a recorded one, or replayed. Nodes fail by their hazard, several at
// once where the class has batches, and cannot fail while they are in repair.
#pragma once

#include <cstdint>
#include <vector>

#include "models/reliability/failure_process.hpp"
#include "models/reliability/fault_fit.hpp"

namespace windtunnel {

// Classes that stop the job alone (planned stops, spoilt snapshots, loss spikes) leave no fault,
// nor do nodes that a provider takes; those that leave the node healthy leave one without a repair
// (process, hang) or with the link's. A fault's cause is its class. `index` as in ArrivalStream,
// tells repetitions apart. Throws Error: a class that cannot be, a trace of nodes that are not
// there.
FaultLog simulate_faults(const std::vector<FailureClass>& classes, int nodes, double span_s,
                         std::uint64_t seed, std::uint64_t index);

}  // namespace windtunnel
