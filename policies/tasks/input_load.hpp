// The cost of loading samples (Job::input). The GPUs that run the first stage read them. All GPUs
// of a replica share its loader: each loads an equal part of the samples with an equal part of the
// cores. (In Megatron the loader on tp rank 0 broadcasts instead, which costs the node the same.)
// Reading and preparing overlap, sample by sample.
#pragma once

#include <string>
#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/plan.hpp"

namespace windtunnel {

struct InputLoad {
  // The flows of one sample of a GPU's part. Empty: samples are always ready.
  std::vector<Flow> flows;
  // duration of these flows if all loading GPUs load at once and nothing else runs
  double sample_s = 0;
  std::string bound;  // its bottleneck: "workers", "CPU cores", "storage", ...
  Origin origin = Origin::assumed;
  std::vector<bool> reads;  // [pipeline rank] whether it reads samples
  double of_replica = 1;    // number of GPUs that share a loader
  // [unit] samples that each GPU with a loader loads for it; empty: all micro-batches are alike.
  std::vector<double> of_unit = {};
};

InputLoad input_load(const Job& job, const Schedule& schedule);

// Return the samples that each reading GPU loads for a unit of the schedule or an iteration.
double samples_of_unit(const Job& job, const InputLoad& load, int unit);
double samples_of_iteration(const Job& job, const InputLoad& load, const Schedule& schedule,
                            int rank);

}  // namespace windtunnel
