// What one iteration processes, and the FLOPs of the model for it.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/workload/stage_parameters.hpp"

namespace windtunnel {

// Of a job whose sequences have unequal lengths, those of its iteration.
std::vector<int> step_lengths(const Job& job);

double tokens_per_step(const Job& job);  // of networks: samples
// Megatron's convention (model_flops()), each sequence by its own length; of what is trained.
double flops_per_step(const Job& job, AttentionCount count = AttentionCount::full);

double mean_peak_flops(const Job& job);  // of a GPU, per second, in the job's precision

ParameterCounts parameter_counts(const Job& job);

}  // namespace windtunnel
