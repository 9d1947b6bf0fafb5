// What software written in plain PyTorch does with a measured run: sharding by PyTorch's FSDP,
// kernels as PyTorch launches them or its compiler joins them. Each sets a job as
// TrainingStack::apply does.
#pragma once

#include "models/plan/job.hpp"
#include "traces/rows/training_runs.hpp"

namespace windtunnel {

void llm_foundry(const TrainingRun& run, Job& job);    // github.com/mosaicml/llm-foundry
void torchtitan(const TrainingRun& run, Job& job);     // github.com/pytorch/torchtitan
void fms_fsdp(const TrainingRun& run, Job& job);       // foundation-model-stack/fms-fsdp
void litgpt(const TrainingRun& run, Job& job);         // github.com/Lightning-AI/litgpt
void torchtune(const TrainingRun& run, Job& job);      // github.com/pytorch/torchtune
void plain_pytorch(const TrainingRun& run, Job& job);  // validate/harness/pytorch

}  // namespace windtunnel
