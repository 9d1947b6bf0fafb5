// Predicts training runs from measured times of their stages. The model then only contributes the
// order of actions, the messages, the optimizer and its synchronisation, so this shows how well
// schedules are distinguished when kernel times are known.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "traces/rows/stage_profile.hpp"
#include "traces/rows/training_runs.hpp"
#include "validate/accuracy/rows/row_filter.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// Assumes that the profile is of a middle stage, and that the order was planned for equal stages,
// as in Zero Bubble's code with the median over ranks (arXiv 2401.10241; auto_schedule.py). Then
// replays the order with stage times in proportion to FLOPs: fewer layers at the ends, and the head
// on the last stage. Throws Error if the schedule is impossible.
double profiled_step_s(const Job& job, const StageProfile& profile);

struct ProfiledRunsOptions {
  std::optional<RowFilter> where;
};

// Predicts a run from the profile with its model (column params), its pipeline ranks and the
// nearest number of micro-batches. Each source has two families: step_s, with a row per run, and
// speed_ratio, with a row per pair of runs that differ only in the schedule (time of the slower /
// time of the faster). The baseline is published bubble rates alone, if the profiles have them
// (columns bubble_*). A note counts in how many pairs that differ by more than 3 % the run that was
// faster is also predicted to be.
ValidationReport validate_profiled_runs(const std::vector<TrainingRuns>& files,
                                        const std::vector<StageProfiles>& profiles,
                                        const ProfiledRunsOptions& options);

}  // namespace windtunnel
