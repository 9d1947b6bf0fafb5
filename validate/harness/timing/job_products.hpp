// The matrix products that a job runs on a GPU, to be measured instead of a grid of shapes.
#pragma once

#include <vector>

#include "models/calibration/kernel_work.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

// From linear layers and experts in all passes, each shape once; for experts one product of a
// batch.
std::vector<KernelWork> job_products(const Job& job);

}  // namespace windtunnel
