#include "validate/accuracy/rows/left_out_intervals.hpp"

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "models/calibration/prediction_error.hpp"

namespace windtunnel {
namespace {

constexpr double kCovered = 0.9;
constexpr int kFewestFamilies = 2;

struct SquaredErrors {
  double sum = 0;
  int rows = 0;

  double mean() const { return sum / rows; }
};

using Family = std::pair<std::string, std::string>;  // name, metric

bool has_no_interval(const ValidationRow& row) {
  return row.low == row.high && row.measured > 0 && row.predicted > 0;
}

// The error factor of a family from the other families of its metric; 1: not known.
double left_out_factor(const std::map<Family, SquaredErrors>& errors, const Family& family) {
  double sum = 0;
  int others = 0;
  for (const auto& [other, squares] : errors) {
    if (other.second != family.second || other.first == family.first) continue;
    sum += squares.mean();
    ++others;
  }
  if (others < kFewestFamilies) return 1;
  const double deviation = std::sqrt(sum / others);
  return error_factor(error_told_by(deviation, others, "the other families"), kCovered);
}

}  // namespace

void add_left_out_intervals(ValidationReport& report) {
  std::map<Family, SquaredErrors> errors;
  for (const ValidationRow& row : report.rows) {
    if (!has_no_interval(row)) continue;
    SquaredErrors& squares = errors[{row.family, row.metric}];
    const double error = std::log(row.predicted / row.measured);
    squares.sum += error * error;
    ++squares.rows;
  }
  for (ValidationRow& row : report.rows) {
    if (!has_no_interval(row)) continue;
    const double factor = left_out_factor(errors, {row.family, row.metric});
    row.low = row.predicted / factor;
    row.high = row.predicted * factor;
  }
}

}  // namespace windtunnel
