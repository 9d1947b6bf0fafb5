// Finds the kind, rank and matrices of the adapters in a measured run, from the row and, if that is
// silent, from the defaults of its software.
#pragma once

#include <string>
#include <vector>

#include "models/plan/job.hpp"
#include "traces/rows/training_runs.hpp"
#include "validate/accuracy/runs/run_source.hpp"

namespace windtunnel {

// Whether the run tunes adapters; this is "row.adapters" in conditions of sources.yaml.
bool trains_adapters(const TrainingRun& run);

// Does nothing if all parameters are trained. Adds guesses to `assumed`. Throws Error for adapters
// that are not low-rank (LLaMA-Adapter), and if no rank gives the stated number of trained
// parameters.
void train_adapters(const TrainingRun& run, const UsualAdapter& usual, Job& job,
                    std::vector<std::string>& assumed);

}  // namespace windtunnel
