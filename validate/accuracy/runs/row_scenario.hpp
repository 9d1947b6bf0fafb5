// Writes the scenario of a measured row: `windtunnel run` makes from it the job by which the row is
// judged.
#pragma once

#include <string>

#include "traces/rows/training_runs.hpp"
#include "validate/accuracy/runs/run_job.hpp"

namespace windtunnel {

// Throws Error if no scenario can express the job: its calibration is not in the library.
std::string row_scenario(const TrainingRun& run, const RunJob& row);

}  // namespace windtunnel
