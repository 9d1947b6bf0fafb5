// Training runs, predicted against measured, as people read them: a table on the console, and a
// page of Markdown that names every miss and every row that was not predicted.
#pragma once

#include <string>
#include <vector>

#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// A line per family and metric in 100 columns, whether runs fitted in memory, how layouts were
// ranked, the `worst` rows, and why rows were not predicted.
std::string runs_text(const ValidationReport& report, int worst);

// `command` made it; `miss_above`: the relative error from which on a row is listed. Files are
// named without their folders, so that the page is the same on every machine.
std::string runs_page(const ValidationReport& report, const std::string& command,
                      double miss_above = 0.2);

// "/data/runs.csv:12" -> "runs.csv:12"
std::string without_folder(const std::string& path);

// The names of all simpler rules, in order.
std::vector<std::string> rules_of(const ValidationReport& report);

// "8.1%", "12%": what fits four columns.
std::string percent(double share);

// The row's error with its sign.
std::string signed_error(const ValidationRow& row);

// At most `width` characters, the middle left out: names of one kind differ at their ends. Counts
// bytes, so that a name with others than ASCII may come out shorter.
std::string shortened(const std::string& text, size_t width);

}  // namespace windtunnel
