// Training runs predicted from measured times of their stages: what is left to the model is the
// order of the actions, the messages, the optimizer and its synchronisation. Says how well
// schedules are told apart when the kernels are known.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "traces/rows/stage_profile.hpp"
#include "traces/rows/training_runs.hpp"
#include "validate/accuracy/rows/row_filter.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// The profile is taken to be that of a middle stage, and the order to be planned as if all stages
// were alike, as Zero Bubble's code does with the median of the ranks (arXiv 2401.10241;
// auto_schedule.py). It is then replayed with each stage's time in proportion to its FLOPs: fewer
// layers at the ends, the head on the last one. Throws Error when the schedule cannot be made.
double profiled_step_s(const Job& job, const StageProfile& profile);

struct ProfiledRunsOptions {
  std::optional<RowFilter> where;
};

// A run is predicted from the profile of its model (column params) and pipeline ranks with the
// nearest number of micro-batches. Two families per source: step_s, one row per run, and
// speed_ratio, one row per pair of runs that differ in the schedule only: time of the slower one /
// time of the faster one. Baseline: published bubble rates alone, where the profiles have them
// (columns bubble_*). The note counts in how many pairs that differ by more than 3 % the faster one
// was predicted to be the faster one.
ValidationReport validate_profiled_runs(const std::vector<TrainingRuns>& files,
                                        const std::vector<StageProfiles>& profiles,
                                        const ProfiledRunsOptions& options);

}  // namespace windtunnel
