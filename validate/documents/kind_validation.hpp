// The report on rows of a kind in measured_kinds().
#pragma once

#include <string_view>

#include "validate/accuracy/rows/validation_report.hpp"
#include "validate/documents/form_document.hpp"

namespace windtunnel {

// The families, every miss above 20 %, and why rows were not predicted; on the page every row.
// `form` is that of the kind, with its words; kind.form has the tables. It must outlive the
// document.
Document kind_document(std::string_view form, const ValidationReport& report);

}  // namespace windtunnel
