// The page of `windtunnel validate`: how far predictions are off, in one figure and one picture;
// then the error of each family beside that of the best simpler rule, the worst rows, and what was
// not predicted or had to be assumed.
#pragma once

#include <string>
#include <vector>

#include "report/text/answer.hpp"
#include "validate/accuracy/faults/faults.hpp"
#include "validate/accuracy/pairs/pair_spread.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// Rows of one kind, and what they are called: "training runs".
struct JudgedRows {
  std::string kind;
  ValidationReport report;
};

// `command`: what makes the page again.
std::string validation_page(const std::vector<JudgedRows>& judged, const std::string& command);

// The ranges are over what sources leave out; each holds its value or does not.
std::string faults_validation_page(const FaultValidation& validation, const std::string& command);

// What such a page consists of: how many rows and how far off, over all of them; then charts and
// tables. A console shows only which rows were not predicted.
std::vector<SummaryRow> accuracy_figures(const ValidationReport& report);
std::vector<SummarySection> validation_sections(std::vector<JudgedRows> rows);

// The page of `windtunnel validate collectives --pairs`: bus bandwidth over pairs of nodes,
// measured and simulated, in one picture; then what makes the pairs of each machine differ.

// `command`: what makes the page again.
std::string pairs_page(const PairSpread& spread, const std::string& command);

}  // namespace windtunnel
