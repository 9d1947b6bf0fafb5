// Slowdown of each pipeline rank's kernels in the closed form: by slow nodes, and by the expected
// wait for the slowest rank if the machine has jitter.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"
#include "policies/evaluation/stage_cost.hpp"
#include "policies/exchange/data_parallel.hpp"

namespace windtunnel {

// [pipeline rank] For its slowest GPU. With jitter the iteration is assumed to be that of the
// pipeline whose rank is in the slowest of all groups in step, while its other ranks are typical.
std::vector<double> expected_slowdowns(const Job& job, const Schedule& schedule,
                                       const std::vector<StageCost>& costs,
                                       const DataParallel& data);

}  // namespace windtunnel
