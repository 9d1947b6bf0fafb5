// Predicted against measured as JSON and as text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/text/json_text.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// {"families": [...], "rows": [...], "fitted": [...], "labels": [...], "skipped": [...]}; shares,
// not per cent. `oom` is null in a family whose rows do not say whether they ran out of memory,
// and errors are in one all of whose rows were fitted on.
Json validation_document(const ValidationReport& report);

// The rows that were not predicted: [{"id": ..., "reason": ...}].
Json skipped_document(const std::vector<SkippedRow>& rows);

// A line per family, its worst row, and the rows that could not be predicted, grouped by reason.
std::string validation_text(const ValidationReport& report, std::size_t width = 0);

}  // namespace windtunnel
