// What Megatron-Bridge's performance recipes choose by container, on top of Megatron-Core's
// choices: experts, graphs, recomputation (github.com/NVIDIA-NeMo/Megatron-Bridge,
// scripts/performance).
#pragma once

#include "models/plan/job.hpp"
#include "traces/rows/training_runs.hpp"

namespace windtunnel {

void choose_as_megatron_bridge(const TrainingRun& run, Job& job);

}  // namespace windtunnel
