// The parts of a GPU's memory, and whether they fit.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/summary/summary.hpp"

namespace windtunnel {

SummarySection memory_section(const Record& record);

// "with a chance of 12 %: ...", from the calibration's error; empty below 1 %.
std::string may_not_fit_text(const Calibration& calibration, double bytes, double usable_bytes);

// The parts of a GPU's memory, in the order in which reports show them.
std::vector<std::pair<const char*, double>> memory_parts(const GpuMemory& rank);

}  // namespace windtunnel
