// Times of checkpoints, predicted against measured, as people read them.
#pragma once

#include <string>

#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// The families, every miss above 20 %, and why rows were not predicted.
std::string checkpoints_text(const ValidationReport& report, std::size_t width = 0);

// Every row. `command` made it; files are named without their folders.
std::string checkpoints_page(const ValidationReport& report, const std::string& command);

}  // namespace windtunnel
