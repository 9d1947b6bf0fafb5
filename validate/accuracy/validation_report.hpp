// Predicted against measured, row by row and summed up per family: the value behind `validate` and
// its --json. A family is a set of rows of one kind and one metric; a row that could not be
// predicted is listed with the reason, never dropped.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/origin.hpp"

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

  double difference() const;  // |predicted - measured|
  // difference / |measured|; where measured is 0, the difference itself.
  double relative_error() const;
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
};

struct SkippedRow {
  std::string id;
  std::string reason;
};

struct ValidationReport {
  std::vector<ValidationFamily> families;  // in the order of their first row
  std::vector<ValidationRow> rows;
  std::vector<SkippedRow> skipped;
};

// Sums up `report.rows` into `report.families`. `notes` by family name. Rows that are not finite
// move to `report.skipped`; the error of a baseline is the mean over the rows where it is finite.
void summarise_families(ValidationReport& report, const std::map<std::string, std::string>& notes);

}  // namespace windtunnel
