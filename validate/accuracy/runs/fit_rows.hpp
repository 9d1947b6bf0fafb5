// These are the rows of a table of measured runs on which a calibration can be fitted: selected,
// converted to jobs, and all of one kind of GPU, because a calibration is for one kind.
#pragma once

#include <string>
#include <vector>

#include "traces/rows/training_runs.hpp"
#include "validate/accuracy/runs/run_fit.hpp"

namespace windtunnel {

struct FitInput {
  std::vector<FitRow> rows;  // groups are the table's sources
  std::string gpu;           // kind of all rows, a name of the library
  // Selected, but without a time, a valid job, or a whole number where one is required.
  std::vector<UnusableRow> unusable;
  bool by_scenario = false;        // rows name the files of their jobs
  size_t other_rows = 0;           // rows not selected, or of another kind of GPU
  std::vector<std::string> notes;  // about logs whose steps change
};

// Converts a row with a step time; its group is its source.
FitRow fit_row_of(const TrainingRun& run, const Job& job);

// `where`: an expression of row_filter.hpp, "" for all rows. `gpu`: a kind of the library, or "" if
// the rows have only one. Throws Error that names the kinds if there are several, or if no row is
// left. In a table with a column `scenario` each row names the file of its job, and perhaps the
// run's log; other tables have the columns of training_runs.hpp.
FitInput read_fit_rows(const std::string& path, const std::string& where, const std::string& gpu);

// One row: the step and memory in the log of a run, whose job is a scenario or the configuration of
// a training program. Throws Error if either cannot be read.
FitInput read_fit_log(const std::string& log, const std::string& scenario);

}  // namespace windtunnel
