// Predicts published reference points of training under failures. The metric of a row decides the
// method: campaigns for shares of useful time, rates for mean times between failures, bytes and
// bandwidths for saves. Missing inputs become ranges (fault_campaign.hpp), and the prediction is
// the range over them; a row that states too little is skipped with the reason. Shares of time are
// only compared within one metric, because effective training time, expected ETTR and useful
// compute / elapsed differ, and a bound is not a value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "traces/rows/fault_points.hpp"
#include "validate/accuracy/faults/fault_campaign.hpp"
#include "validate/accuracy/rows/row_filter.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// The value of a simpler rule, which is a published formula or a rule of thumb.
struct FaultRule {
  std::string name;
  double value = 0;
};

struct FaultPrediction {
  std::string id, name, system, metric;
  std::string unit;       // of all values; empty: a share or a plain number
  bool at_least = false;  // the source states a lower bound
  double measured = 0;
  double predicted = 0;
  double low = 0;
  double high = 0;
  // Relative tolerance, if the inputs leave no range or the measured value is a mean over few
  // failures; 0: the value must be inside the range.
  double tolerance = 0;
  Origin origin = Origin::published;
  std::optional<FaultRule> formula, baseline;
  std::vector<FaultInput> unpublished;
  // The range before values that contradict the measured bound are removed.
  std::optional<PredictedRange> unrestricted;
  std::string note;

  bool inside() const;
  double width() const { return high - low; }
  const FaultInput* largest() const;  // the unpublished input that changes the result most
};

// A rate that several rows share. It is fitted on rows, which are then not blind, or one row states
// it.
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
  std::optional<RowFilter> where;  // rows to judge
  int threads = 0;
};

// Fits rates on the rows of all files together. Throws Error for a filter that does not fit a
// table.
FaultValidation validate_faults(const std::vector<FaultPoints>& files, const FaultOptions& options);

// ---- The method for each published metric: a table from its name to a function.

struct FaultContext {
  const std::vector<FaultPoint>& points;  // all rows, to fit rates on
  int threads = 0;
};

// One prediction per measured number that the row's inputs determine. Throws Error with the reason
// if there is none.
std::vector<FaultPrediction> predict_fault_point(const FaultPoint& point,
                                                 const FaultContext& context);

// A published mean time between failures, in hours, of a job with `nodes` nodes.
struct PublishedMean {
  std::string row;
  int nodes = 0;
  double mtbf_h = 0;
};

// Finds rows of `metric` (empty: any), from the same source as `like`, that state nodes and a mean
// time.
std::vector<PublishedMean> published_means(const std::vector<FaultPoint>& points,
                                           const FaultPoint& like, const std::string& metric);

// Fits the failure rate per node and second to all rows by least squares of the logarithm.
double fitted_rate_per_node_s(const std::vector<PublishedMean>& means);

// Returns the exponent by which the rate per node grows with the number of nodes, nodes^growth,
// between the smallest and the largest job; nothing unless these differ in size.
std::optional<double> fitted_growth(const std::vector<PublishedMean>& means);

}  // namespace windtunnel
