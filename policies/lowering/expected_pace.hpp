// How much longer the kernels of each pipeline rank take in the closed form: on slow nodes, and by
// what ranks are expected to wait for the slowest where the machine jitters.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"
#include "policies/evaluation/stage_cost.hpp"
#include "policies/exchange/data_parallel.hpp"

namespace windtunnel {

// [pipeline rank] Of its slowest GPU. With jitter the iteration is taken to be that of the pipeline
// in which the slowest of all groups in step has its rank, while the other ranks are like most.
std::vector<double> expected_slowdowns(const Job& job, const Schedule& schedule,
                                       const std::vector<StageCost>& costs,
                                       const DataParallel& data);

}  // namespace windtunnel
