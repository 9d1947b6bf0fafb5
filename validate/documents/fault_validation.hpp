// The report on published reference points under failures, predicted as ranges: as JSON, and as a
// document. Each metric has a table of its own, because shares of time with different definitions
// are not comparable.
#pragma once

#include <vector>

#include "report/json/json.hpp"
#include "report/summary/summary.hpp"
#include "validate/accuracy/faults/faults.hpp"
#include "validate/documents/form_document.hpp"

namespace windtunnel {

// validation_json() with, for each row, its name, unit, formula, baseline and whether the measured
// value is inside; and {"unpublished": [{"id", "name", "input", "low", "high", ...}], "parameters":
// [...]}: the inputs that no source states, and the rates that rows share.
Json faults_json(const FaultValidation& validation);

// A table per metric, then the inputs that sources leave out, remarks on rows, and the rates that
// rows share.
Document faults_document(const FaultValidation& validation);
// These are the same tables for a page with charts.
std::vector<SummarySection> fault_sections(const FaultValidation& validation);

}  // namespace windtunnel
