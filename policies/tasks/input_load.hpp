// What it takes to load samples (Job::input). Who reads: the GPUs that run the first stage. Those
// of a replica share its loader, each an equal part of the samples and of the cores: Megatron's
// loader on tp rank 0 broadcasts, and what its node reads and prepares is the same. Reading and
// preparing go on side by side, sample by sample.
#pragma once

#include <string>
#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/plan.hpp"

namespace windtunnel {

struct InputLoad {
  // Flows of one sample of a GPU's part; empty: samples are there already.
  std::vector<Flow> flows;
  double sample_s = 0;  // the same, while all GPUs that read do, and nothing else
  std::string bound;    // what lets it be no faster: "workers", "CPU cores", "storage", ...
  Origin origin = Origin::assumed;
  std::vector<bool> reads;  // [pipeline rank]
  double of_replica = 1;    // GPUs that share a loader
  // [unit] samples that each of these GPUs loads for it; empty: micro-batches are alike.
  std::vector<double> of_unit = {};
};

InputLoad input_load(const Job& job, const Schedule& schedule);

// Samples that each of these GPUs loads for a unit of the schedule, and for an iteration.
double samples_of_unit(const Job& job, const InputLoad& load, int unit);
double samples_of_iteration(const Job& job, const InputLoad& load, const Schedule& schedule,
                            int rank);

}  // namespace windtunnel
