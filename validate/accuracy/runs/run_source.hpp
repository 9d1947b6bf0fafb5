// What the sources of measured runs are known to do and their rows do not say: which training
// software they ran, what their words mean, what their figure of memory is. Data:
// scenarios/library/sources.yaml.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/plan/job.hpp"
#include "models/workload/training.hpp"
#include "scenarios/language/library/facts/training_software.hpp"
#include "traces/rows/training_runs.hpp"
#include "validate/accuracy/runs/run_job.hpp"

namespace windtunnel {

// What adapters are where a row is silent.
struct UsualAdapter {
  int rank = 16;
  Adapter on;
  double large_from = 0;  // parameters of the model from which on `large_rank` is usual; 0: none
  int large_rank = 0;
};

struct RunSource {
  std::string name;
  std::vector<JobCondition> when, any;
  const Framework* software = nullptr;
  std::vector<SoftwareChoice> implies;  // as if the row stated it
  std::string node;                     // of the library; empty: that of the GPU
  std::string calibration, gpu;         // fitted on this software and GPU; empty: none
  std::string assumed;                  // in words, where the row does not tell; empty: nothing
  MemoryFigure memory;
  UsualAdapter adapter;
  std::vector<JobCondition> packed;  // sequences then hold samples of so many tokens; 0: never
  int sample_tokens = 0;
  bool stages_by_weights = false;    // a stage's layers, in the place of even ones
  bool chunks_of_one_layer = false;  // of a pipeline whose row does not say how it interleaves
  std::string evidence;
};

// Reads a document like scenarios/library/sources.yaml. Throws Error with location: names that the
// library does not have, and conditions of which nothing can be known (facts/job_conditions.hpp):
// by which source a row is of is asked before there is a job.
std::vector<RunSource> read_run_sources(const DocumentNode& document);

// The first whose conditions the row meets; the last one takes every row.
const RunSource& source_of(const TrainingRun& run);

// `job` has the row's model, machine, layout and batch; its software sets the rest. Returns the
// choices that were made, each once.
std::vector<const SoftwareChoice*> apply_source(const RunSource& source, const TrainingRun& run,
                                                Job& job);

}  // namespace windtunnel
