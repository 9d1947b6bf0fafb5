// Predicted against measured, row by row and summed up per family: the value behind `validate` and
// its --json. A family is a set of rows of one kind and one metric; a row that could not be
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

namespace windtunnel {

struct ValidationRow {
  std::string id;      // "file:line" of the measured row
  std::string family;  // name of its family
  std::string metric;  // "bubble_rate"
  double measured = 0;
  double predicted = 0;
  double low = 0;  // 90 % interval; both equal to predicted when none is claimed
  double high = 0;
  Origin origin = Origin::assumed;  // weakest number that the prediction rests on
  // What simpler rules predict, by name.
  std::map<std::string, double> baselines;
  // Rows of one group are alternatives of one job, which a prediction should rank as measured;
  // empty: compared with none. In a group, rows of one configuration are one thing measured again.
  std::string group = {};
  std::string configuration = {};
  std::string label = {};  // what a reader knows the row by: "GPT 181B, 384 GPUs"
  std::string note = {};   // of the measured row
  // Numbers of the calibration that were fitted on this row: "host.launch". Empty: it is blind.
  std::vector<std::string> fitted_by = {};

  double difference() const;  // |predicted - measured|
  // difference / |measured|; where measured is 0, the difference itself.
  double relative_error() const;
};

// Whether a run was out of memory: measured, and predicted.
struct MemoryLabel {
  std::string id;
  std::string family;
  bool measured_out = false;
  bool predicted_out = false;
};

struct MemoryLabels {
  int right = 0;
  int missed = 0;        // was out of memory, predicted to fit
  int false_alarms = 0;  // ran in truth, predicted to be out of memory

  int rows() const { return right + missed + false_alarms; }
};

// How well the alternatives of one job are ranked, over all groups of a family that have two or
// more; what was measured repeatedly counts once, by its median.
struct GroupRanking {
  int groups = 0;
  int pairs = 0;  // of configurations that differ by more than 10 % in the measured value
  // (pairs ranked as measured - pairs ranked the other way) / pairs; none without pairs.
  std::optional<double> kendall_tau;
  // Measured value of what is predicted to be best / best measured value - 1, over the groups.
  double median_regret = 0;
  double worst_regret = 0;
};

struct ValidationFamily {
  std::string name;  // "1f1b"
  std::string metric;
  std::string note;  // what a reader must know to judge the numbers; may be empty
  int rows = 0;
  std::map<std::string, double> baselines;  // mean absolute relative error of each
  double mape = 0;                          // mean absolute relative error, as a share
  double median_ape = 0;
  double p90_ape = 0;
  ValidationRow worst;                // largest relative error
  double worst_difference = 0;        // largest absolute difference, in the metric's unit
  std::optional<double> kendall_tau;  // tau-b; none if a side has only ties
  // Share of rows with an interval whose measured value lies inside; none if no row claims one.
  std::optional<double> coverage90;
  std::optional<MemoryLabels> out_of_memory;  // none if no row says
  std::optional<GroupRanking> ranking;        // none if no group has two configurations
  int fitted = 0;                             // further rows, not blind
  double fitted_mape = 0;                     // of these, as mape
  std::map<std::string, int> assumed;         // what was assumed, in how many rows
};

struct SkippedRow {
  std::string id;  // "file:line", or "file:line:column" of the cell at fault
  std::string reason;
};
// A row that an error keeps from being used: at the place that the error knows, else at `id`.
SkippedRow skipped_row(const std::string& id, const Error& error);

// A fit that predicting calibrations rest on.
struct FittedBefore {
  std::string source;                     // its words: "fitted on 205 rows of ..."
  std::vector<std::string> numbers;       // that it gave, sorted
  std::vector<std::string> calibrations;  // that hold them, sorted
  int rows = 0;                           // of this report that it was fitted on
};

struct ValidationReport {
  std::vector<ValidationFamily> families;  // in the order of their first row
  std::vector<ValidationRow> rows;
  std::vector<ValidationRow> fitted;  // some number was fitted on them: stated, not judged
  std::vector<FittedBefore> fitted_before;
  std::vector<MemoryLabel> labels;
  std::vector<SkippedRow> skipped;
  std::vector<MeasuredRuns> measured;  // of training runs: for the library
};

// Sums up rows, fitted rows and labels into `report.families`; a family may have no judged row.
// `notes` by family name. Rows that are not finite move to `report.skipped`. Labels count in the
// family of their name that has the metric "memory_bytes", which is added where it is missing. The
// error of a baseline is the mean over the rows where it is finite.
void summarise_families(ValidationReport& report, const std::map<std::string, std::string>& notes);

// Intervals for predictions that have none of their own: how far those of all other families were
// off. A family never tells its own interval, so its coverage is a test of it.

// Gives each row without an interval, and with positive values, one of 90 %: as far as a row of an
// unknown family may be off, whose error has the mean square, over the other families of its
// metric, of each one's mean squared log(predicted / measured). So many families tell it, which
// widens the interval (error_factor()). None where no two other families have such rows.
void add_left_out_intervals(ValidationReport& report);

}  // namespace windtunnel
