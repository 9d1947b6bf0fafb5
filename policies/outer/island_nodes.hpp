// Which islands of replicas share nodes, and thus lose ranks together.
#pragma once

#include <vector>

#include "models/plan/job.hpp"

namespace windtunnel {

// Returns for each node the first of the islands that share it, directly or through other nodes.
std::vector<int> first_islands(const Job& job);

// Returns the number of groups of islands that share no nodes with each other.
int islands_apart(const Job& job);

// Whether an island can lose a node without affecting the others. There must be several groups of
// equally many islands that share no nodes. The job must have neither groups that drop out as a
// whole (recovery.elastic) nor paths with islands that share nodes.
bool goes_on_by_islands(const Job& job);

}  // namespace windtunnel
