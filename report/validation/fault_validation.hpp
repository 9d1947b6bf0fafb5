// Published reference points under failures, predicted as ranges: as JSON, on the console, and as a
// page. One table per metric, because shares of time that are defined differently do not compare.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/json/json.hpp"
#include "report/summary/summary.hpp"
#include "validate/accuracy/faults/faults.hpp"

namespace windtunnel {

// validation_document() with, per row, its name, unit, formula, baseline and whether the measured
// value lies inside; and {"unpublished": [{"id", "name", "input", "low", "high", ...}],
// "parameters": [...]}: the inputs that no source states, and the rates that rows share.
Json faults_document(const FaultValidation& validation);

std::string faults_text(const FaultValidation& validation, std::size_t width = 0);

// A table per metric, then inputs that the sources leave out, what a reader must know of rows, and
// the rates that rows share.
std::vector<SummarySection> fault_sections(const FaultValidation& validation);

// `command` made it. Files are named without their folders.
std::string faults_page(const FaultValidation& validation, const std::string& command);

}  // namespace windtunnel
