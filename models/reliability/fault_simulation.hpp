// Simulates the faults of a cluster without a job: what a set of failure classes looks like as a
// log, to be fitted, compared with a recorded one, or replayed. Nodes fail by their hazard, several
// at once if the class has batches, and cannot fail while in repair.
#pragma once

#include <cstdint>
#include <vector>

#include "models/reliability/failure_process.hpp"
#include "models/reliability/fault_fit.hpp"

namespace windtunnel {

// Classes that affect only the job (planned stops, corrupt snapshots, loss spikes) and nodes taken
// by a provider leave no entry. Failures that leave the node healthy have no repair time (process,
// hang) or the link's. A fault's cause is its class. `index` distinguishes repetitions, as in
// ArrivalStream. Throws Error if a class is invalid or a trace names missing nodes.
FaultLog simulate_faults(const std::vector<FailureClass>& classes, int nodes, double span_s,
                         std::uint64_t seed, std::uint64_t index);

}  // namespace windtunnel
