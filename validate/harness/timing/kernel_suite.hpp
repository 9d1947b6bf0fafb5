// What a calibration measures: every kernel that the device has a form of, and every collective
// that the ranks have, over its sizes, to fit on; and compositions and sizes between those, to
// judge the fit by. What is left out where the time is short: suite_part.hpp.
#pragma once

#include <span>
#include <vector>

#include "kernels/device/device.hpp"
#include "models/calibration/kernel_work.hpp"
#include "models/plan/job.hpp"
#include "validate/harness/collectives/collectives.hpp"
#include "validate/harness/timing/timed_work.hpp"

namespace windtunnel {

// None needs more than `memory_bytes` at a time. `collectives` joins the ranks that run it at once;
// nullptr: one alone. `products`: of a job (job_products()), beside those of a grid.
std::vector<TimedWork> kernel_suite(const Device& device, double memory_bytes,
                                    Collectives* collectives = nullptr,
                                    std::span<const KernelWork> products = {});

// The matrix products that a job runs on a GPU: shapes to measure instead of a grid's.

// Of linear layers and experts, all passes, each shape once; of experts one product of a batch.
std::vector<KernelWork> job_products(const Job& job);

}  // namespace windtunnel
