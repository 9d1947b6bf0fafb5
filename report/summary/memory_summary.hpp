// What takes the memory of a GPU, and whether it fits.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/summary/summary.hpp"

namespace windtunnel {

SummarySection memory_section(const Record& record);

// "with a chance of 12 %: ...", by the calibration's error; empty below 1 %.
std::string may_not_fit_text(const Calibration& calibration, double bytes, double usable_bytes);

// What takes the memory of a GPU, in the order that reports show it in.
std::vector<std::pair<const char*, double>> memory_parts(const GpuMemory& rank);

}  // namespace windtunnel
