// Compares measured training runs with the closed prediction of their jobs: step time, peak memory,
// and whether a run ran out of memory. A family is a source on one kind of GPU.
//
// Rows that a calibration is fitted on are listed and not judged. The calibration is frozen before
// rows are judged.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/plan/job.hpp"
#include "traces/rows/stage_profile.hpp"
#include "traces/rows/training_runs.hpp"
#include "validate/accuracy/rows/row_filter.hpp"
#include "validate/accuracy/rows/validation_report.hpp"
#include "validate/accuracy/runs/run_fit.hpp"
#include "validate/accuracy/runs/run_job.hpp"

namespace windtunnel {

// The models that validate_runs() calls, from several threads.
struct RunPredictor {
  std::function<RunJob(const TrainingRun&)> job_of;
  std::function<RunPrediction(const Job&)> predict;
  std::function<PredictionInterval(const RunPrediction&, const Calibration&)> interval;
  std::function<Calibration(const std::vector<FitRow>&, const Calibration& prior)> fit;
  std::function<Calibration(const FitRow&, const Calibration& prior)> fit_one_point;
};

RunPredictor closed_predictor(int threads = 0);  // with run_job.hpp and run_fit.hpp

struct RunsOptions {
  std::optional<RowFilter> where;      // judged rows; none: all but the fitted ones
  std::optional<RowFilter> fit_where;  // rows to fit on, regardless of `where`
  // Files to fit on and never judge; `fit_where` then applies only to them.
  std::vector<TrainingRuns> calibrate_on;
  std::optional<Calibration> calibration;  // for all rows, instead of the one for their GPU
  // Fits on one row of each family: among its rows with a time and a prediction, the middle one in
  // the order of the files.
  bool one_point = false;
  int threads = 0;  // 0: all cores; the report does not depend on it
  // Rows done and total; called from any thread, never concurrently.
  std::function<void(size_t, size_t)> progress;
};

// Returns "a paper / A100".
std::string family_of(const TrainingRun& run);

// Throws Error if a filter names an unknown column, or the rows to fit on are not sufficient. Every
// row that a filter passes is judged, fitted on, or skipped with the reason.
ValidationReport validate_runs(const std::vector<TrainingRuns>& files,
                               const RunPredictor& predictor, const RunsOptions& options);

// Writes the scenario of a measured row: `windtunnel run` makes from it the job by which the row is
// judged. Throws Error if no scenario can express the job, because its calibration is not in the
// library.
std::string row_scenario(const TrainingRun& run, const RunJob& row);
// [key] The values that this scenario states.
std::map<std::string, std::string> row_keys(const TrainingRun& run, const RunJob& row);

// Predicts a training run from measured times of its stages. The model then only contributes the
// order of actions, the messages, the optimizer and its synchronisation, so this shows how well
// schedules are distinguished when kernel times are known.
//
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
// (columns bubble_*). A note counts the pairs that differ by more than 3 %, and how many of them
// are predicted in the measured order.
ValidationReport validate_profiled_runs(const std::vector<TrainingRuns>& files,
                                        const std::vector<StageProfiles>& profiles,
                                        const ProfiledRunsOptions& options);

}  // namespace windtunnel
