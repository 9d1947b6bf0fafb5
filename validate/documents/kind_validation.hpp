// Rows of a kind of measured_kinds(), predicted against measured.
#pragma once

#include <string_view>

#include "validate/accuracy/rows/validation_report.hpp"
#include "validate/documents/form_document.hpp"

namespace windtunnel {

// The families, every miss above 20 %, and why rows were not predicted; on the page every row.
// `form`: the kind's, which says them in its words; kind.form has the tables. Must outlive it.
Document kind_document(std::string_view form, const ValidationReport& report);

}  // namespace windtunnel
