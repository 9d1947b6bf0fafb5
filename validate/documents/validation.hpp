// Predicted against measured as JSON, and as the document of any kind of rows.
#pragma once

#include <string_view>
#include <vector>

#include "report/text/json_text.hpp"
#include "validate/accuracy/rows/validation_report.hpp"
#include "validate/documents/form_document.hpp"

namespace windtunnel {

// {"families": [...], "rows": [...], "fitted": [...], "labels": [...], "skipped": [...]}; shares,
// not per cent. `oom` is null in a family whose rows do not say whether they ran out of memory,
// and errors are in one all of whose rows were fitted on.
Json validation_json(const ValidationReport& report);

// The rows that were not predicted: [{"id": ..., "reason": ...}].
Json skipped_json(const std::vector<SkippedRow>& rows);

// A line per family, its worst row, and the rows that could not be predicted, grouped by reason.
Document rows_document(const ValidationReport& report);

// Rows of a kind of measured_kinds(), predicted against measured.

// The families, every miss above 20 %, and why rows were not predicted; on the page every row.
// `form`: the kind's, which says them in its words; kind.form has the tables. Must outlive it.
Document kind_document(std::string_view form, const ValidationReport& report);

// Training runs, predicted against measured: a table on the console, and a page that names every
// miss and every row that was not predicted.

// A line per family and metric in 100 columns, whether runs fitted in memory, how layouts were
// ranked, the `worst` rows, and why rows were not predicted. `miss_above`: the relative error from
// which on the page lists a row.
Document runs_document(const ValidationReport& report, int worst, double miss_above = 0.2);

}  // namespace windtunnel
