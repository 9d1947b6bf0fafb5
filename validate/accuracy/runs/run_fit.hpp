// Fits a calibration to measured step times by maximum a posteriori (models/base/fit/fit.hpp):
// parameters start from the prior calibration, whose intervals limit how far they move, and the
// rows pull them.
//
// docs/reference/rows.md, "A calibration from rows", explains the weights of rows of one source,
// and which rows are left out to estimate the error on unseen runs.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/calibration/calibration.hpp"
#include "validate/accuracy/runs/run_job.hpp"

namespace windtunnel {

struct FitRow {
  Job job;  // each candidate replaces its calibration
  double measured_s = 0;
  std::string group;           // source
  std::string id;              // "file:line", for messages
  double memory_bytes = 0;     // measured; 0: not stated
  MemoryFigure memory_figure;  // how the memory was measured
};

struct FitOptions {
  // Names of calibration_fields() to fit and to leave unchanged. If `only` is empty, all with an
  // interval (low < high) are fitted.
  std::vector<std::string> only;
  std::vector<std::string> fixed;
  bool flat_prior = false;            // ignore the prior
  int threads = 0;                    // 0: all cores; the result does not depend on it
  std::string source;                 // for fitted values: "fitted on N rows of ..."
  FittedOn fitted_on;                 // the rows; empty: not stated
  Origin origin = Origin::published;  // of the rows, and so of fitted values
  // Predicts the seconds of a step; empty: predict() of run_job.hpp. Throws Error if the row cannot
  // be used.
  std::function<double(const Job&)> predict_s;
};

struct FittedParameter {
  std::string_view name;
  Parameter prior;
  Parameter fitted;
};

struct RunFit {
  Calibration calibration;
  std::vector<FittedParameter> fitted;              // in the order of calibration_fields()
  std::vector<std::string_view> without_influence;  // free parameters on which no row depends
  std::vector<UnusableRow> unusable;
  int rows = 0;         // used
  int folds = 0;        // left out in turn; 0: error.step is the prior's
  int memory_rows = 0;  // rows with stated memory; 0: error.memory is the prior's
  bool converged = true;
  double residual_rms = 0;  // of log(predicted / measured), with equal weights
  double median_ape_before = 0;
  double median_ape_after = 0;
};

// Throws Error if no row can be used or a name is unknown.
RunFit fit_runs(const std::vector<FitRow>& rows, const Calibration& prior,
                const FitOptions& options = {});

// Fits only kernel.sustained (or kernel.alone, if the calibration has it, for a job on one GPU) to
// this row and the prior. A row bound by its host or network tells little about the kernels' speed;
// the prior's interval limits its influence.
RunFit fit_one_point(const FitRow& row, const Calibration& prior, const FitOptions& options = {});

// These are 90 % intervals from the calibration's error.step and error.memory.
struct PredictionInterval {
  double step_low_s = 0;
  double step_high_s = 0;
  double memory_low_bytes = 0;
  double memory_high_bytes = 0;
};

PredictionInterval interval(const RunPrediction& prediction, const Calibration& calibration);

}  // namespace windtunnel
