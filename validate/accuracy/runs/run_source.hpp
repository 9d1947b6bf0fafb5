// What is known about the sources of measured runs and is not in their rows: their training
// software, the meaning of their words, and their figure of memory. The data is
// scenarios/library/sources.yaml.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/plan/job.hpp"
#include "models/workload/training.hpp"
#include "scenarios/language/library/facts/training_software.hpp"
#include "traces/rows/training_runs.hpp"
#include "validate/accuracy/runs/run_job.hpp"

namespace windtunnel {

// Properties of adapters that a row does not state.
struct UsualAdapter {
  int rank = 16;
  Adapter on;
  // `large_rank` is usual for models with at least this many parameters; 0: never.
  double large_from = 0;
  int large_rank = 0;
};

struct RunSource {
  std::string name;
  std::vector<JobCondition> when, any;
  const Framework* software = nullptr;
  std::vector<SoftwareChoice> implies;  // treated as if the row stated it
  std::string node;                     // in the library; empty: the GPU's usual node
  // The calibration fitted on this software and GPU; empty: none.
  std::string calibration, gpu;
  std::string assumed;  // in words, if the row does not tell; empty: nothing
  MemoryFigure memory;
  UsualAdapter adapter;
  // If these hold, sequences are packed with samples of this many tokens; 0: never.
  std::vector<JobCondition> packed;
  int sample_tokens = 0;
  bool stages_by_weights = false;    // layers per stage follow weights instead of being even
  bool chunks_of_one_layer = false;  // for a pipeline whose row does not state its interleaving
  // How its rows' TFLOP/s count causal attention; empty: not known.
  std::optional<AttentionCount> flops;
  std::string evidence;
};

// Reads a document like scenarios/library/sources.yaml. Throws Error with location: names that the
// library does not have, and conditions that cannot be known (facts/job_conditions.hpp), because
// the source of a row is determined before its job.
std::vector<RunSource> read_run_sources(const DocumentNode& document);

// Returns the first source whose conditions the row meets; the last one accepts every row.
const RunSource& source_of(const TrainingRun& run);

// Whether the row states its step time, or TFLOP/s from which measured_step_s() computes it.
bool tells_step(const TrainingRun& run);
// The step time of the row, whose job this is; none if the row does not tell it.
std::optional<double> measured_step_s(const TrainingRun& run, const Job& job);

// `job` has the row's model, machine, layout and batch; its software sets the rest. Returns the
// choices made, without repeats.
std::vector<const SoftwareChoice*> apply_source(const RunSource& source, const TrainingRun& run,
                                                Job& job);

// Whether the run tunes adapters; this is "row.adapters" in conditions of sources.yaml.
bool trains_adapters(const TrainingRun& run);

// Sets the kind, rank and matrices of the adapters in a measured run from the row and, where the
// row says nothing, from `usual`. Does nothing if all parameters are trained. Adds guesses to
// `assumed`. Throws Error for adapters that are not low-rank (LLaMA-Adapter), and if no rank gives
// the stated number of trained parameters.
void train_adapters(const TrainingRun& run, const UsualAdapter& usual, Job& job,
                    std::vector<std::string>& assumed);

}  // namespace windtunnel
