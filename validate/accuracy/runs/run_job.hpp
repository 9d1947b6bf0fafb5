// From a measured run to the Job that predicts it: the machine by its GPU's name, the model by its
// dimensions, and what the source's software is known to do. Every guess is listed in `assumed`.
#pragma once

#include <string>
#include <vector>

#include "models/base/units.hpp"
#include "models/calibration/prediction_error.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/plan/job.hpp"
#include "traces/rows/training_runs.hpp"

namespace windtunnel {

struct SoftwareChoice;  // scenarios/language/library/facts/training_software.hpp

struct RunJob {
  Job job;                           // with the library's calibration of its GPU
  std::vector<std::string> assumed;  // "vocab 50257", in the order in which they were decided
  // What its software and its source were chosen to do, each once.
  std::vector<const SoftwareChoice*> choices = {};
};

// Throws Error with the reason when the row does not say enough.
RunJob job_of(const TrainingRun& run);

struct RunPrediction {
  double step_s = 0;
  StepSpread spread = {};         // of step_s, beside the calibration's own error
  double hfu_causal = 0;          // as IterationReport has it; 0: not known
  double memory_bytes = 0;        // peak of the fullest GPU, as its driver shows it
  std::vector<GpuMemory> memory;  // [pipeline rank]
  bool fits = true;
  Origin origin = Origin::assumed;  // weakest of the numbers that decide
};

// What a source prints as memory: of which GPU, in which unit, and what of it.
struct MemoryFigure {
  enum class Rank { fullest, first, last };  // of the pipeline
  // What the driver shows; max_memory_reserved() and max_memory_allocated() of PyTorch.
  enum class What { device, reserved, allocated };
  double unit_bytes = kGibibyte;
  What what = What::reserved;
  Rank rank = Rank::fullest;
};
MemoryFigure memory_figure_of(const TrainingRun& run);
double bytes_of(const MemoryFigure& figure, const std::vector<GpuMemory>& memory);

// Closed evaluation, see policies/lowering/iteration_estimate.hpp. `job.calibration` decides.
RunPrediction predict(const Job& job);

}  // namespace windtunnel
