// Each kind in measured_kinds() has a file of its own, and one table lists them. Only these files
// include this header, which has what most of them need.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "models/results/record.hpp"
#include "scenarios/language/library/facts/gpu_names.hpp"
#include "scenarios/language/library/facts/model_names.hpp"
#include "scenarios/language/library/library.hpp"
#include "validate/accuracy/kinds/measured_kind.hpp"

namespace windtunnel {

MeasuredKind checkpoint_kind();
MeasuredKind dispatch_kind();
MeasuredKind rollout_kind();
MeasuredKind power_kind();
MeasuredKind failure_kind();

// Simulates the scenario with its studies, whether or not it fits in memory.
Record simulate_row(const std::string& scenario);

// Throws Error if the division has a remainder.
inline int divide_gpus(int gpus, int among) {
  if (gpus % among != 0) throw Error("the GPUs do not divide among the nodes");
  return gpus / among;
}

// Makes a predicted figure of a row without an interval or a simpler rule.
template <class Row>
PredictedRow figure_of(const Row& row, std::string family, std::string metric, double measured,
                       double predicted, std::string label) {
  PredictedRow figure;
  figure.row.family = std::move(family);
  figure.row.metric = std::move(metric);
  figure.row.measured = measured;
  figure.row.predicted = predicted;
  figure.row.label = std::move(label);
  figure.row.note = row.note;
  return figure;
}

// This is MeasuredKind::judge for a type of row, its columns and its prediction.
template <class Row, const auto& kColumns, auto predict>
ValidationReport judge_with(const KindOptions& options) {
  return judge_files<Row>(options, kColumns, predict);
}

}  // namespace windtunnel
