// Schedules against two tables of published or independently computed results, told apart by their
// columns:
//   bubble_* columns   published bubble rates with the profiled times that they rest on
//                      (Qi et al., Zero Bubble, arXiv 2401.10241, tables 5 and 9)
//   makespan column    makespans, spans and activation peaks of a reference executor
#pragma once

#include <string>
#include <vector>

#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// Rows that cannot be read, and those of schedules that this build does not have, are skipped with
// the reason. The columns of both tables, their units, and what is assumed of activations:
// docs/reference/rows.md, "Schedules". Throws Error for a file with neither set of columns or
// without rows.
ValidationReport validate_schedules(const std::vector<std::string>& csv_paths);

}  // namespace windtunnel
