// The matrix products that a job runs on a GPU: shapes to measure instead of a grid's.
#pragma once

#include <vector>

#include "models/calibration/kernel_work.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

// Of linear layers and experts, all passes, each shape once; of experts one product of a batch.
std::vector<KernelWork> job_products(const Job& job);

}  // namespace windtunnel
