// Of a measured run that tunes adapters: their kind, rank and matrices, from what the row says and
// from what its software does where the row is silent.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/workload/training.hpp"
#include "models/workload/transformer.hpp"
#include "traces/rows/training_runs.hpp"

namespace windtunnel {

bool trains_adapters(const TrainingRun& run);

// Null: all parameters are trained. What had to be guessed is added to `assumed`. Throws Error for
// adapters that are not low-rank ones (LLaMA-Adapter), and where the stated number of trained
// parameters is that of no rank.
std::shared_ptr<const Training> training_of(const TrainingRun& run, const TransformerSpec& model,
                                            std::vector<std::string>& assumed);

}  // namespace windtunnel
