// Slowdown of each pipeline rank's kernels in the closed form: by slow nodes and, if the machine
// has jitter, by the expected wait for the slowest rank.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"
#include "policies/evaluation/stage_cost.hpp"
#include "policies/exchange/data_parallel.hpp"

namespace windtunnel {

// Returns for each pipeline rank the slowdown of its slowest GPU. With jitter it assumes that one
// pipeline determines the iteration: its busiest rank is in the slowest of all groups in step, the
// others in typical ones.
std::vector<double> expected_slowdowns(const Job& job, const Schedule& schedule,
                                       const std::vector<StageCost>& costs,
                                       const DataParallel& data);

}  // namespace windtunnel
