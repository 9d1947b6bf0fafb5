// Published reference points under failures, predicted as ranges: as JSON, and as a document. One
// table per metric, because shares of time that are defined differently do not compare.
#pragma once

#include <vector>

#include "report/json/json.hpp"
#include "report/summary/summary.hpp"
#include "validate/accuracy/faults/faults.hpp"
#include "validate/documents/form_document.hpp"

namespace windtunnel {

// validation_json() with, per row, its name, unit, formula, baseline and whether the measured value
// lies inside; and {"unpublished": [{"id", "name", "input", "low", "high", ...}],
// "parameters": [...]}: the inputs that no source states, and the rates that rows share.
Json faults_json(const FaultValidation& validation);

// A table per metric, then inputs that the sources leave out, what a reader must know of rows, and
// the rates that rows share.
Document faults_document(const FaultValidation& validation);
// The same tables, for a page that is drawn.
std::vector<SummarySection> fault_sections(const FaultValidation& validation);

}  // namespace windtunnel
