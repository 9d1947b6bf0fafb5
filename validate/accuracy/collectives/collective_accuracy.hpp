// Compares measured timings of collectives (rows of nccl-tests) with collective_cost(), per machine
// and class of size. A point is the median over repeats, placements (in or out of place) and
// variants of one (machine, environment, collective, GPUs, bytes). Its environment is the part of
// the notes before a semicolon, without names of hosts.
//
// The laws of a network are fitted per machine and environment on the rows chosen for that, and
// frozen before anything is judged. Points of a machine without fitted rows are predicted from its
// specification, in families of their own.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "traces/nccl/nccl_tests.hpp"
#include "validate/accuracy/collectives/collective_fit.hpp"
#include "validate/accuracy/rows/row_filter.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// Medians of |predicted - measured| / measured; 0 without points.
struct MedianErrors {
  int points = 0;
  double median = 0;
  double ring = 0;  // of the rule "specification, ring"

  bool worse() const { return points > 0 && median > ring; }
};

struct JudgedMachine {
  std::string name;
  bool fitted = false;   // some of its rows were fitted on
  bool in_view = false;  // known when the library's laws were fitted
  int rows = 0;          // measured rows behind its points
  MedianErrors all;
  MedianErrors below;  // 1 MB
  MedianErrors from;
  double covered = 0;   // share of points within their 90 % interval
  int gpus = 0;         // the most among judged points
  int fitted_gpus = 0;  // the most among fitted points
};

// Summarises judged collectives by machine and by distance from what was fitted: median errors
// below and from 1 MB, errors of a ring from specification on the same points, and the share of
// points within the 90 % intervals.
struct CollectivesSummary {
  std::vector<JudgedMachine> machines;  // in the order of their first point
  // Points with more ranks than any that their law was fitted on.
  MedianErrors beyond_below;
  MedianErrors beyond_from;
  // Points of machines that no fit and no law of the library has used.
  MedianErrors unseen_below;
  MedianErrors unseen_from;
  MedianErrors unseen;
  // Points of machines without fits, but known to the laws (machines_in_view()).
  MedianErrors in_view_below;
  MedianErrors in_view_from;
};

// `predictions` lacks points that could not be predicted.
CollectivesSummary summary_of(const std::vector<ScoredRow>& points,
                              const std::vector<ValidationRow>& predictions,
                              const std::vector<FittedNetwork>& networks);

struct CollectivesOptions {
  std::optional<RowFilter> where;            // judged rows; none: all but the fitted ones
  std::optional<RowFilter> fit_where;        // rows to fit on, regardless of `where`
  std::vector<CollectiveRows> calibrate_on;  // fitted on and never judged; `fit_where` then applies
                                             // to these only
  std::optional<Calibration> calibration;    // to start from, instead of the one for the row's GPU
  int threads = 0;                           // 0: all cores; the report does not depend on it
};

struct CollectivesReport {
  ValidationReport report;
  std::vector<FittedNetwork> networks;  // in the order of their first row
  CollectivesSummary summary;           // of the judged points
  int measured_rows = 0;                // rows that these medians summarise
};

// Throws Error if a filter names an unknown column, `where` leaves no row, or the rows to fit on
// are not sufficient. Every row that a filter passes belongs to a judged or fitted point, or is
// skipped with a reason.
CollectivesReport validate_collectives(const std::vector<CollectiveRows>& files,
                                       const CollectivesOptions& options);

// Groups rows into points, in the order of their first row; unusable rows go to `skipped`.
std::vector<ScoredRow> scored_rows(const std::vector<const CollectiveRow*>& rows,
                                   const NodeSizes& sizes, std::vector<SkippedRow>& skipped);

// Returns the environment that notes state. A row shares its environment with rows that differ only
// in the requested algorithm.
std::string environment_of(const std::string& notes);
std::string environment_of(const CollectiveRow& row);

// Returns "all-reduce, 64 GPUs on 8 nodes, 1.05 MB".
std::string label_of(const ScoredRow& row);

}  // namespace windtunnel
