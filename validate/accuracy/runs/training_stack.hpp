// What the software behind published runs is known to do and the rows do not say: kernels, types,
// sharding, overlap. One row per stack; the first that matches decides.
#pragma once

#include <string_view>

#include "models/plan/job.hpp"
#include "traces/rows/training_runs.hpp"

namespace windtunnel {

struct TrainingStack {
  std::string_view name;      // "Megatron-DeepSpeed 2022"
  std::string_view evidence;  // where its behaviour is documented
  bool (*matches)(const TrainingRun& run);
  // `job` has the row's model dimensions, layout and batch; sets the rest.
  void (*apply)(const TrainingRun& run, Job& job);
  // Of the library, where one was fitted on this software and `gpu`; empty: that of the machine.
  std::string_view calibration = {};
  std::string_view gpu = {};
};

// The last one matches every run.
const TrainingStack& stack_of(const TrainingRun& run);

}  // namespace windtunnel
