// A validation report as JSON, and as a document for any kind of rows.
#pragma once

#include <vector>

#include "report/text/json_text.hpp"
#include "validate/accuracy/rows/validation_report.hpp"
#include "validate/documents/form_document.hpp"

namespace windtunnel {

// {"families": [...], "rows": [...], "fitted": [...], "labels": [...], "skipped": [...]}; shares
// are not in per cent. `oom` is null if the rows of a family do not state whether they ran out of
// memory, and errors are null if all of its rows were fitted on.
Json validation_json(const ValidationReport& report);

// The rows that were not predicted: [{"id": ..., "reason": ...}].
Json skipped_json(const std::vector<SkippedRow>& rows);

// A line per family, its worst row, and the rows that could not be predicted, grouped by reason.
Document rows_document(const ValidationReport& report);

}  // namespace windtunnel
