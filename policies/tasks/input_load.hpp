// The cost of loading samples (Job::input). The GPUs that run the first stage read them. All GPUs
// of a replica share its loader, each with an equal part of samples and cores: Megatron's loader on
// tp rank 0 broadcasts instead, with the same work for its node. Reading and preparing overlap,
// sample by sample.
#pragma once

#include <string>
#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/plan.hpp"

namespace windtunnel {

struct InputLoad {
  // Flows of one sample of a GPU's part; empty: samples are always ready.
  std::vector<Flow> flows;
  // duration of these flows if all loading GPUs do the same and nothing else runs
  double sample_s = 0;
  std::string bound;  // its bottleneck: "workers", "CPU cores", "storage", ...
  Origin origin = Origin::assumed;
  std::vector<bool> reads;  // [pipeline rank]
  double of_replica = 1;    // number of GPUs that share a loader
  // [unit] samples that each of these GPUs loads for it; empty: all micro-batches are alike.
  std::vector<double> of_unit = {};
};

InputLoad input_load(const Job& job, const Schedule& schedule);

// Returns how many samples each of these GPUs reads for a unit of the schedule or an iteration.
double samples_of_unit(const Job& job, const InputLoad& load, int unit);
double samples_of_iteration(const Job& job, const InputLoad& load, const Schedule& schedule,
                            int rank);

}  // namespace windtunnel
