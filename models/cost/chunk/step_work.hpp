// Counts what one iteration processes and the model FLOPs for it.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/workload/stage_parameters.hpp"

namespace windtunnel {

// Returns each sequence's length in the iteration of a job with unequal lengths.
std::vector<int> step_lengths(const Job& job);

double tokens_per_step(const Job& job);  // networks: samples
// Megatron's convention (model_flops()), with each sequence's own length, counting what is trained.
double flops_per_step(const Job& job, AttentionCount count = AttentionCount::full);

// Counts the part of flops_per_step() that is in a tower before the decoder.
double tower_step_flops(const Job& job);

double mean_peak_flops(const Job& job);  // per GPU and second, in the job's precision

ParameterCounts parameter_counts(const Job& job);

}  // namespace windtunnel
