// Measured timings of collectives against collective_cost(): rows of nccl-tests, per machine and
// class of size. A point is the median over repeats, placements (in or out of place) and variants
// of one (machine, environment, collective, GPUs, bytes); its environment is what the notes say
// before a semicolon, names of hosts left out.
//
// The laws of a network are fitted on the rows that are to be fitted on, per machine and
// environment, and frozen before anything is judged. What has no fitted rows of its machine is
// predicted from specification alone, in families of its own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "traces/nccl/nccl_tests.hpp"
#include "validate/accuracy/collectives/collective_fit.hpp"
#include "validate/accuracy/collectives/collective_summary.hpp"
#include "validate/accuracy/rows/row_filter.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

struct CollectivesOptions {
  std::optional<RowFilter> where;            // judged rows; none: all but those fitted on
  std::optional<RowFilter> fit_where;        // rows to fit on, whatever `where` says
  std::vector<CollectiveRows> calibrate_on;  // fitted on and never judged; `fit_where` then applies
                                             // to these only
  std::optional<Calibration> calibration;    // to start from, instead of that of the row's GPU
  int threads = 0;                           // 0: all cores; the report does not depend on it
};

struct CollectivesReport {
  ValidationReport report;
  std::vector<FittedNetwork> networks;  // fitted, in the order of their first row
  CollectivesSummary summary;           // of the judged points
  int measured_rows = 0;                // that these are medians of
};

// Throws Error when a filter names an unknown column, `where` leaves no row, or nothing can be
// fitted on that was to be.
// Every row that a filter lets pass is part of a judged or fitted point, or skipped with a reason.
CollectivesReport validate_collectives(const std::vector<CollectiveRows>& files,
                                       const CollectivesOptions& options);

// Groups rows into points, in the order of their first row; unusable rows go to `skipped`.
std::vector<ScoredRow> scored_rows(const std::vector<const CollectiveRow*>& rows,
                                   const NodeSizes& sizes, std::vector<SkippedRow>& skipped);

// What notes say of their row's environment; of a row, what it has in common with those that differ
// from it by the algorithm that was asked for alone.
std::string environment_of(const std::string& notes);
std::string environment_of(const CollectiveRow& row);

// "all-reduce, 64 GPUs on 8 nodes, 1.05 MB"
std::string label_of(const ScoredRow& row);

}  // namespace windtunnel
