// A validation report as JSON, and as a document for any kind of rows.
#pragma once

#include <string_view>
#include <vector>

#include "report/text/json_text.hpp"
#include "validate/accuracy/rows/validation_report.hpp"
#include "validate/documents/form_document.hpp"

namespace windtunnel {

// Returns {"families": [...], "rows": [...], "fitted": [...], "labels": [...], "skipped": [...]};
// shares are not in per cent. `oom` is null if the rows of a family do not state whether they ran
// out of memory, and errors are null if all of its rows were fitted on.
Json validation_json(const ValidationReport& report);

// Lists the rows that were not predicted: [{"id": ..., "reason": ...}].
Json skipped_json(const std::vector<SkippedRow>& rows);

// Shows a line per family, its worst row, and the rows that could not be predicted, grouped by
// reason.
Document rows_document(const ValidationReport& report);

// Reports on rows of a kind in measured_kinds(): the families, every miss above 20 %, and why rows
// were not predicted; on the page every row. `form` is that of the kind, with its words; kind.form
// has the tables. It must outlive the document.
Document kind_document(std::string_view form, const ValidationReport& report);

// Reports on training runs: a line per family and metric in 100 columns, whether runs fitted in
// memory, the ranking of layouts, the `worst` rows, and why rows were not predicted. The page lists
// rows with a relative error above `miss_above`, and every row that was not predicted.
Document runs_document(const ValidationReport& report, int worst, double miss_above = 0.2);

}  // namespace windtunnel
