// Which islands share nodes, and thus lose ranks together.
#pragma once

#include <vector>

#include "models/plan/job.hpp"

namespace windtunnel {

// [node] The first of the islands that share it, directly or through others.
std::vector<int> first_islands(const Job& job);

// Number of groups of islands that share no nodes with each other.
int islands_apart(const Job& job);

// Whether an island can lose a node without affecting the others: there are several groups of
// equally many islands that share no nodes, and the job has neither groups that drop out as a whole
// (recovery.elastic) nor paths whose islands share nodes.
bool goes_on_by_islands(const Job& job);

}  // namespace windtunnel
