// Compares schedules with two kinds of tables of published or independently computed results, which
// are recognised by their columns:
//   bubble_* columns   published bubble rates with the profiled times that they rest on
//                      (Qi et al., Zero Bubble, arXiv 2401.10241, tables 5 and 9)
//   makespan column    makespans, spans and activation peaks of a reference executor
#pragma once

#include <string>
#include <vector>

#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// Skips, with the reason, rows that cannot be read and schedules that this build does not have.
// docs/reference/rows.md, "Schedules", has the columns of both tables, their units, and assumptions
// about activations. Throws Error for a file with neither set of columns or without rows.
ValidationReport validate_schedules(const std::vector<std::string>& csv_paths);

}  // namespace windtunnel
