// Training runs, predicted against measured, as people read them: a table on the console, and a
// page of Markdown that names every miss and every row that was not predicted.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// A line per family and metric in 100 columns, whether runs fitted in memory, how layouts were
// ranked, the `worst` rows, and why rows were not predicted.
std::string runs_text(const ValidationReport& report, int worst, std::size_t width = 0);

// `command` made it; `miss_above`: the relative error from which on a row is listed. Files are
// named without their folders, so that the page is the same on every machine.
std::string runs_page(const ValidationReport& report, const std::string& command,
                      double miss_above = 0.2);

}  // namespace windtunnel
