// Which islands share nodes: those that do lose ranks together.
#pragma once

#include <vector>

#include "models/plan/job.hpp"

namespace windtunnel {

// [node] The first of the islands that share it, directly or by way of others.
std::vector<int> first_islands(const Job& job);

// How many groups of islands have nodes of their own.
int islands_apart(const Job& job);

// Whether one island can go on without a node while the others do not notice: several groups of as
// many islands have nodes of their own, and the job has no groups that drop out as a whole
// (recovery.elastic) and no paths whose islands share nodes.
bool goes_on_by_islands(const Job& job);

}  // namespace windtunnel
