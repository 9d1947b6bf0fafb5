// The report on training runs: a table on the console, and a page that lists every miss and every
// row that was not predicted.
#pragma once

#include "validate/accuracy/rows/validation_report.hpp"
#include "validate/documents/form_document.hpp"

namespace windtunnel {

// A line per family and metric in 100 columns, whether runs fitted in memory, the ranking of
// layouts, the `worst` rows, and why rows were not predicted. The page lists rows with a relative
// error above `miss_above`.
Document runs_document(const ValidationReport& report, int worst, double miss_above = 0.2);

}  // namespace windtunnel
