// Training runs, predicted against measured: a table on the console, and a page that names every
// miss and every row that was not predicted.
#pragma once

#include "validate/accuracy/rows/validation_report.hpp"
#include "validate/documents/form_document.hpp"

namespace windtunnel {

// A line per family and metric in 100 columns, whether runs fitted in memory, how layouts were
// ranked, the `worst` rows, and why rows were not predicted. `miss_above`: the relative error from
// which on the page lists a row.
Document runs_document(const ValidationReport& report, int worst, double miss_above = 0.2);

}  // namespace windtunnel
