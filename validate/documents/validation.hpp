// Predicted against measured as JSON, and as the document of any kind of rows.
#pragma once

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

}  // namespace windtunnel
