// The rows of a table of measured runs that a calibration can be fitted on: selected, turned into
// jobs, and all of one GPU kind, because a calibration is one kind's.
#pragma once

#include <string>
#include <vector>

#include "traces/rows/training_runs.hpp"
#include "validate/accuracy/runs/run_fit.hpp"

namespace windtunnel {

struct FitInput {
  std::vector<FitRow> rows;  // groups are the table's sources
  std::string gpu;           // kind of all of them, a name of the library
  // Selected but without a time, a job or a whole number where one is due.
  std::vector<UnusableRow> unusable;
  size_t other_rows = 0;  // not selected, or of another GPU kind
};

// A row that states a step time, ready to be fitted on; its group is its source.
FitRow fit_row_of(const TrainingRun& run, const Job& job);

// `where`: an expression of row_filter.hpp, "" for all rows. `gpu`: a kind of the library, "" when
// the rows have only one. Throws Error for several kinds, naming them, and when no row is left.
FitInput read_fit_rows(const std::string& path, const std::string& where, const std::string& gpu);

}  // namespace windtunnel
