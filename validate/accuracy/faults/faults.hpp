// Published reference points of training under failures, predicted. A row is predicted by what its
// metric asks: campaigns for shares of useful time, rates for mean times between failures, bytes
// and bandwidths for saves. Inputs that its source leaves out become ranges (fault_campaign.hpp),
// and the prediction is the range over them; a row that states too little is skipped with the
// reason. Shares of time are compared with those of the same metric only: effective training time,
// expected ETTR and useful compute / elapsed are not the same thing, nor is a bound a value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "traces/rows/fault_points.hpp"
#include "validate/accuracy/faults/fault_ranges.hpp"
#include "validate/accuracy/rows/row_filter.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// What a simpler rule says: a published formula, or a rule of thumb.
struct FaultRule {
  std::string name;
  double value = 0;
};

struct FaultPrediction {
  std::string id, name, system, metric;
  std::string unit;       // of all values; empty: a share or a plain number
  bool at_least = false;  // the source states a bound that was exceeded
  double measured = 0;
  double predicted = 0;
  double low = 0;
  double high = 0;
  double tolerance = 0;  // relative; where nothing varies or the row says so. 0: inside the range
  Origin origin = Origin::published;
  std::optional<FaultRule> formula, baseline;
  std::vector<FaultInput> unpublished;
  std::optional<PredictedRange> unrestricted;  // before what contradicts the measured bound is left
  std::string note;

  bool inside() const;
  double width() const { return high - low; }
  const FaultInput* largest() const;  // of the unpublished, that which moves the result most
};

// A rate that rows share: fitted on them, which are then not blind, or stated by one.
struct FaultRate {
  std::string name;
  double value = 0;
  std::string unit;
  std::string rows;  // "fitted on A, B"
};

struct FaultValidation {
  ValidationReport report;  // families are metrics
  std::vector<FaultPrediction> predictions;
  std::vector<FaultRate> rates;
};

struct FaultOptions {
  std::optional<RowFilter> where;  // the rows that are judged
  int threads = 0;
};

// Rates are fitted on the rows of all files together. Throws Error for a filter that does not fit a
// table.
FaultValidation validate_faults(const std::vector<FaultPoints>& files, const FaultOptions& options);

// ---- How each published metric is predicted: a table from its name to the function.

struct FaultContext {
  const std::vector<FaultPoint>& points;  // all, to fit rates on
  int threads = 0;
};

// One prediction per measured number that the row's inputs reach. Throws Error with the reason when
// they reach none.
std::vector<FaultPrediction> predict_fault_point(const FaultPoint& point,
                                                 const FaultContext& context);

}  // namespace windtunnel
