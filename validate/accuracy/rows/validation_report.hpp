// Compares predictions with measured values, by row and summarised by family; `validate` and its
// --json print it. A family is a set of rows of one kind and one metric. A row that could not be
// predicted is listed with the reason, never dropped.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.hpp"
#include "models/base/origin.hpp"
#include "models/results/familiarity.hpp"
#include "models/results/speed_up.hpp"

namespace windtunnel {

struct ValidationRow {
  std::string id;      // "file:line" of the measured row
  std::string family;  // name of its family
  std::string metric;  // "bubble_rate"
  double measured = 0;
  double predicted = 0;
  double low = 0;  // 90 % interval; both equal to predicted without one
  double high = 0;
  Origin origin = Origin::assumed;  // of the weakest number used in the prediction
  // [name] predictions of simpler rules.
  std::map<std::string, double> baselines;
  // Rows of a group are alternatives for one job, whose ranking should match the measured one;
  // empty: not compared. Within a group, rows of one configuration are repeated measurements.
  std::string group = {};
  std::string configuration = {};
  std::string label = {};  // a readable name: "GPT 181B, 384 GPUs"
  std::string note = {};   // of the measured row
  // Numbers of the calibration that were fitted on this row, "host.launch"; empty: blind.
  std::vector<std::string> fitted_by = {};

  double difference() const;  // |predicted - measured|
  // difference / |measured|; the difference itself if measured is 0.
  double relative_error() const;
};

// Whether a run ran out of memory, measured and predicted.
struct MemoryLabel {
  std::string id;
  std::string family;
  bool measured_out = false;
  bool predicted_out = false;
};

struct MemoryLabels {
  int right = 0;
  int missed = 0;        // ran out of memory, predicted to fit
  int false_alarms = 0;  // fitted, predicted to run out of memory

  int rows() const { return right + missed + false_alarms; }
};

// Quality of the ranking within groups of at least two alternatives, over all groups of a family;
// repeated measurements count once, by their median.
struct GroupRanking {
  int groups = 0;
  int pairs = 0;  // of configurations whose measured values differ by more than 10 %
  // (pairs ranked as measured - pairs ranked the other way) / pairs; none without pairs.
  std::optional<double> kendall_tau;
  // Measured value of the alternative predicted to be best, over the best measured value, - 1.
  double median_regret = 0;
  double worst_regret = 0;
};

struct ValidationFamily {
  std::string name;  // "1f1b"
  std::string metric;
  std::string note;  // what a reader must know about the numbers; may be empty
  int rows = 0;
  std::map<std::string, double> baselines;  // [name] mean absolute relative error
  double mape = 0;                          // mean absolute relative error, as a share
  double median_ape = 0;
  double p90_ape = 0;
  ValidationRow worst;                // largest relative error
  double worst_difference = 0;        // largest absolute difference, in the metric's unit
  std::optional<double> kendall_tau;  // tau-b; none if a side has only ties
  // Share of rows with an interval that contains the measured value; none without intervals.
  std::optional<double> coverage90;
  std::optional<MemoryLabels> out_of_memory;  // none if no row has a label
  std::optional<GroupRanking> ranking;        // none if no group has two configurations
  int fitted = 0;                             // number of further rows, which are not blind
  double fitted_mape = 0;                     // their mape
  std::map<std::string, int> assumed;         // [assumption] number of rows
};

struct SkippedRow {
  std::string id;  // "file:line", or "file:line:column" of the cell at fault
  std::string reason;
};
// Returns a row that cannot be used because of an error: at the error's place, else at `id`.
SkippedRow skipped_row(const std::string& id, const Error& error);

// An earlier fit that calibrations used here rest on.
struct FittedBefore {
  std::string source;                     // its words: "fitted on 205 rows of ..."
  std::vector<std::string> numbers;       // fitted numbers, sorted
  std::vector<std::string> calibrations;  // calibrations with these numbers, sorted
  int rows = 0;                           // rows of this report that it was fitted on
};

struct ValidationReport {
  std::vector<ValidationFamily> families;  // in the order of their first row
  std::vector<ValidationRow> rows;
  std::vector<ValidationRow> fitted;  // some number was fitted on them: listed, not judged
  std::vector<FittedBefore> fitted_before;
  std::vector<MemoryLabel> labels;
  std::vector<SkippedRow> skipped;
  std::vector<MeasuredRuns> measured;  // of training runs, for the library
  std::vector<MeasuredPairs> pairs;    // of training runs that differ in few keys, for the library
};

// Summarises rows, fitted rows and labels into `report.families`; a family may have no judged row.
// `notes`: [family]. Rows that are not finite are moved to `report.skipped`. Labels count in the
// family with their name and the metric "memory_bytes", which is added if missing. A baseline's
// error is the mean over rows where it is finite.
void summarise_families(ValidationReport& report, const std::map<std::string, std::string>& notes);

// Gives a 90 % interval to each row that has positive values and no interval, as for a row of an
// unknown family: the error's mean square is the mean, over the other families of its metric, of
// their mean squared log(predicted / measured). The number of these families widens the interval
// (error_factor()). A family does not influence its own interval, so its coverage tests it. Rows
// get no interval unless at least two other families have such rows.
void add_left_out_intervals(ValidationReport& report);

}  // namespace windtunnel
