// Measured training runs against the closed prediction of their jobs: step time, peak memory, and
// whether a run was out of memory. A family is a source on one kind of GPU.
//
// Rows that a calibration is fitted on are stated and not judged. What is judged is predicted with
// the calibration frozen.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "traces/rows/training_runs.hpp"
#include "validate/accuracy/rows/row_filter.hpp"
#include "validate/accuracy/rows/validation_report.hpp"
#include "validate/accuracy/runs/run_fit.hpp"
#include "validate/accuracy/runs/run_job.hpp"

namespace windtunnel {

// What validate_runs() asks the models for. Called from several threads.
struct RunPredictor {
  std::function<RunJob(const TrainingRun&)> job_of;
  std::function<RunPrediction(const Job&)> predict;
  std::function<PredictionInterval(const RunPrediction&, const Calibration&)> interval;
  std::function<Calibration(const std::vector<FitRow>&, const Calibration& prior)> fit;
  std::function<Calibration(const FitRow&, const Calibration& prior)> fit_one_point;
};

RunPredictor closed_predictor(int threads = 0);  // of run_job.hpp and run_fit.hpp

struct RunsOptions {
  std::optional<RowFilter> where;      // judged rows; none: all but those that are fitted on
  std::optional<RowFilter> fit_where;  // rows to fit on, whatever `where` says
  // Further files whose rows are fitted on and never judged; `fit_where` then applies to them only.
  std::vector<TrainingRuns> calibrate_on;
  std::optional<Calibration> calibration;  // for all rows, instead of that of the row's GPU
  // One row of each family is fitted on: the middle one, in the order of the files, of those that
  // state a time and can be predicted.
  bool one_point = false;
  int threads = 0;  // 0: all cores; the report does not depend on it
  // Rows done and rows in all; from any thread, never at the same time.
  std::function<void(size_t, size_t)> progress;
};

// "a paper / A100"
std::string family_of(const TrainingRun& run);

// Throws Error when a filter names an unknown column, or nothing can be fitted on that was to be.
// Every row of the files that a filter lets pass is judged, fitted on, or skipped with the reason.
ValidationReport validate_runs(const std::vector<TrainingRuns>& files,
                               const RunPredictor& predictor, const RunsOptions& options);

}  // namespace windtunnel
