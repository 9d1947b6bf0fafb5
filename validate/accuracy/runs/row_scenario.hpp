// A measured row as a scenario: the text of which `windtunnel run` makes the job that the row is
// judged by.
#pragma once

#include <string>

#include "traces/rows/training_runs.hpp"
#include "validate/accuracy/runs/run_job.hpp"

namespace windtunnel {

// Throws Error where no scenario says what the row does: a calibration that stands in no library.
std::string row_scenario(const TrainingRun& run, const RunJob& row);

}  // namespace windtunnel
