// Times of checkpoints, predicted against measured.
#pragma once

#include "report/text/form_document.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// The families, every miss above 20 %, and why rows were not predicted; on the page every row.
Document checkpoints_document(const ValidationReport& report);

}  // namespace windtunnel
