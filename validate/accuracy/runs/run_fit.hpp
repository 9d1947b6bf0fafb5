// Calibration from measured step times, by maximum a posteriori (the method:
// models/base/fit/fit.hpp): the parameters start from the prior calibration, whose intervals say
// how far each may move, and the rows pull.
//
// How rows of one source weigh together, and which rows are left out to tell the error on unseen
// runs: docs/reference/rows.md, "A calibration from rows".
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/calibration/calibration.hpp"
#include "validate/accuracy/runs/run_job.hpp"

namespace windtunnel {

struct FitRow {
  Job job;  // its calibration does not matter: each candidate takes its place
  double measured_s = 0;
  std::string group;           // source
  std::string id;              // "file:line", for messages
  double memory_bytes = 0;     // measured; 0: not stated
  MemoryFigure memory_figure;  // what was measured
};

struct FitOptions {
  // Names of calibration_fields(). `only` empty: all with an interval (low < high).
  std::vector<std::string> only;
  std::vector<std::string> fixed;
  bool flat_prior = false;            // the rows alone decide
  int threads = 0;                    // 0: all cores; the result does not depend on it
  std::string source;                 // of the fitted values: "fitted on N rows of ..."
  FittedOn fitted_on;                 // the rows; neither file nor where: not stated
  Origin origin = Origin::published;  // of the rows, and so of what they decide
  // Seconds of a step; predict() of run_job.hpp. May throw Error: the row cannot be used.
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
  std::vector<std::string_view> without_influence;  // free, but no row depends on them
  std::vector<UnusableRow> unusable;
  int rows = 0;         // used
  int folds = 0;        // left out one after the other; 0: error.step is the prior's
  int memory_rows = 0;  // that state their memory; 0: error.memory is the prior's
  bool converged = true;
  double residual_rms = 0;  // of log(predicted / measured), every row alike
  double median_ape_before = 0;
  double median_ape_after = 0;
};

// Throws Error when no row can be used or a name is unknown.
RunFit fit_runs(const std::vector<FitRow>& rows, const Calibration& prior,
                const FitOptions& options = {});

// kernel.sustained (of a job on one GPU kernel.alone, where it has one) alone, from this row and
// the prior: a row that is bound by its host or network says little about the kernels' speed, and
// the prior's interval how far it may pull.
RunFit fit_one_point(const FitRow& row, const Calibration& prior, const FitOptions& options = {});

// 90 %, from the calibration's error.step and error.memory.
struct PredictionInterval {
  double step_low_s = 0;
  double step_high_s = 0;
  double memory_low_bytes = 0;
  double memory_high_bytes = 0;
};

PredictionInterval interval(const RunPrediction& prediction, const Calibration& calibration);

}  // namespace windtunnel
