// Of a measured run that tunes adapters: their kind, rank and matrices, from what the row says and
// from what its software does where the row is silent.
#pragma once

#include <string>
#include <vector>

#include "models/plan/job.hpp"
#include "traces/rows/training_runs.hpp"
#include "validate/accuracy/runs/run_source.hpp"

namespace windtunnel {

// Whether the row's run tunes adapters: what "row.adapters" is in conditions of sources.yaml.
bool trains_adapters(const TrainingRun& run);

// Nothing where all parameters are trained. What had to be guessed is added to `assumed`. Throws
// Error for adapters that are not low-rank ones (LLaMA-Adapter), and where the stated number of
// trained parameters is that of no rank.
void train_adapters(const TrainingRun& run, const UsualAdapter& usual, Job& job,
                    std::vector<std::string>& assumed);

}  // namespace windtunnel
