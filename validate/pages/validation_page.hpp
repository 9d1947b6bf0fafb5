// The page of `windtunnel validate`: the overall error in a figure and a chart; then the error of
// each family next to that of the best simpler rule, the worst rows, rows that were not predicted,
// and assumptions.
#pragma once

#include <string>
#include <vector>

#include "report/text/answer.hpp"
#include "validate/accuracy/faults/faults.hpp"
#include "validate/accuracy/pairs/pair_spread.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// Rows of one kind, with the kind's title: "training runs".
struct JudgedRows {
  std::string kind;
  ValidationReport report;
};

// `command` makes the page again.
std::string validation_page(const std::vector<JudgedRows>& judged, const std::string& command);

// Predictions are ranges over inputs that sources leave out, which contain the value or do not.
std::string faults_validation_page(const FaultValidation& validation, const std::string& command);

// These are the parts of such a page: number of rows and overall error, then charts and tables. The
// console shows only which rows were not predicted.
std::vector<SummaryRow> accuracy_figures(const ValidationReport& report);
std::vector<SummarySection> validation_sections(std::vector<JudgedRows> rows);

// Makes the page of `windtunnel validate collectives --pairs`: a chart of measured and simulated
// bus bandwidth over pairs of nodes, then the causes of differences on each machine. `command`
// makes the page again.
std::string pairs_page(const PairSpread& spread, const std::string& command);

}  // namespace windtunnel
