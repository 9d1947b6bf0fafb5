// From a measured run to the Job that predicts it: the machine by its GPU's name, the model by its
// dimensions, and what the source's software is known to do. Every guess is listed in `assumed`.
#pragma once

#include <string>
#include <vector>

#include "models/job.hpp"
#include "traces/training_runs.hpp"

namespace windtunnel {

struct RunJob {
  Job job;                           // with the library's calibration of its GPU
  std::vector<std::string> assumed;  // "vocab 50257", in the order in which they were decided
};

// Throws Error with the reason when the row does not say enough.
RunJob job_of(const TrainingRun& run);

struct RunPrediction {
  double step_s = 0;
  // Peaks of the fullest GPU: what its driver shows, what PyTorch's allocator reserves of that, and
  // what tensors take of that (max_memory_reserved(), max_memory_allocated()).
  double memory_bytes = 0;
  double reserved_bytes = 0;
  double allocated_bytes = 0;
  bool fits = true;
  Origin origin = Origin::assumed;  // weakest of the numbers that decide
};

// What the source prints as memory: in which unit, and what of it.
struct MemoryFigure {
  double unit_bytes = 0;
  double RunPrediction::*predicted = nullptr;
};
MemoryFigure memory_figure_of(const TrainingRun& run);

// Closed evaluation, see policies/iteration_estimate.hpp. `job.calibration` decides.
RunPrediction predict(const Job& job);

}  // namespace windtunnel
