// Finds the numbers of a calibration that were fitted on the measured row they now predict; such a
// row is not blind (Parameter::fitted_on).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/calibration/calibration.hpp"
#include "traces/text/csv.hpp"
#include "validate/accuracy/rows/row_filter.hpp"

namespace windtunnel {

struct FittedNumber {
  std::string name;        // "gemm.efficiency", "network.bandwidth"
  bool of_memory = false;  // predicts bytes instead of seconds
  const Parameter* number = nullptr;
};

// The numbers that state the rows they were fitted on, in the order of calibration_fields(), then
// the laws. They point into `calibration`.
std::vector<FittedNumber> fitted_numbers(const Calibration& calibration);

// Whether the table has all columns in the expression.
bool has_columns(const RowFilter& filter, const CsvTable& table);

// False if the table lacks a column of `where`. Throws Error if `where` is not an expression.
bool is_among(const std::vector<FittedOn>& fitted_on, const CsvTable& table, std::size_t row);

}  // namespace windtunnel
