// Makes the Job that predicts a measured run: the machine from its GPU's name, the model from its
// dimensions, and the known behaviour of the source's software. Every guess is listed in `assumed`.
#pragma once

#include <string>
#include <vector>

#include "models/base/units.hpp"
#include "models/calibration/prediction_error.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/machine/cluster.hpp"
#include "models/plan/job.hpp"
#include "traces/rows/training_runs.hpp"

namespace windtunnel {

struct Framework;       // scenarios/language/library/facts/training_software.hpp
struct SoftwareChoice;  // the same

struct RunJob {
  Job job;                           // with the library's calibration of its GPU
  std::vector<std::string> assumed;  // "vocab 50257", in the order of decisions
  // Choices of its software and its source, without repeats.
  std::vector<const SoftwareChoice*> choices = {};
  const Framework* software = nullptr;
};

// Throws Error with the reason if the row does not state enough.
RunJob job_of(const TrainingRun& run);

struct RunPrediction {
  double step_s = 0;
  StepSpread spread = {};         // of step_s, in addition to the calibration's error
  double hfu_causal = 0;          // as in IterationReport; 0: not known
  double memory_bytes = 0;        // peak of the fullest GPU, as the driver shows it
  std::vector<GpuMemory> memory;  // [pipeline rank]
  bool fits = true;
  Origin origin = Origin::assumed;  // of the weakest number used
};

// What a source prints as memory: of which GPU, in which unit, and which part of it.
struct MemoryFigure {
  enum class Rank { fullest, first, last };  // of the pipeline
  // The driver's figure, or PyTorch's max_memory_reserved() or max_memory_allocated().
  enum class What { device, reserved, allocated };
  double unit_bytes = kGibibyte;
  What what = What::reserved;
  Rank rank = Rank::fullest;
};
MemoryFigure memory_figure_of(const TrainingRun& run);
double bytes_of(const MemoryFigure& figure, const std::vector<GpuMemory>& memory);

// Predicts in closed form (policies/lowering/iteration_estimate.hpp), with `job.calibration`.
RunPrediction predict(const Job& job);

// Applies a row's description of its network, "4x100Gb/s RoCE per node" or "TCP; delay 5 ms, 2
// Gb/s", to the cluster instead of its node type's network. Sets the node's NICs and the fabric's
// transport and latency, as far as the text states them for a node (in a rack that is one NVLink
// domain: for a tray). A delay is one-way. A text that states less leaves the cluster unchanged.
void set_stated_network(const std::string& text, Cluster& cluster);

}  // namespace windtunnel
