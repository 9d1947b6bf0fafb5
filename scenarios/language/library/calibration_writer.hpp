// A calibration as the text that read_calibration() of
// scenarios/language/library/library_reader.hpp reads back to the last bit: how a fit becomes a
// file that scenarios name.
#pragma once

#include <string>

#include "models/calibration/calibration.hpp"

namespace windtunnel {

// `comment` becomes the first line, its line breaks blanks.
std::string calibration_text(const Calibration& calibration, const std::string& comment);

}  // namespace windtunnel
