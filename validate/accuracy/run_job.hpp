// From a measured run to the Job that predicts it: the machine by its GPU's name, the model by its
// dimensions, and what the source's software is known to do. Every guess is listed in `assumed`.
#pragma once

#include <string>
#include <vector>

#include "models/job.hpp"
#include "traces/training_runs.hpp"

namespace windtunnel {

struct RunJob {
  Job job;  // with the library's calibration of its GPU
  std::vector<std::string> assumed;  // "vocab 50257", in the order in which they were decided
};

// Throws Error with the reason when the row does not say enough.
RunJob job_of(const TrainingRun& run);

struct RunPrediction {
  double step_s = 0;
  double memory_bytes = 0;  // peak of the fullest GPU
  bool fits = true;
  Origin origin = Origin::assumed;  // weakest of the numbers that decide
};

// Closed evaluation, see policies/iteration_estimate.hpp. `job.calibration` decides.
RunPrediction predict(const Job& job);

}  // namespace windtunnel
