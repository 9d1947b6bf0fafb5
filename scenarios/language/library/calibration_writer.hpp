// Writes a calibration as the text that read_calibration() of
// scenarios/language/library/library_reader.hpp reads back exactly. A fit thus becomes a file that
// scenarios can name.
#pragma once

#include <string>

#include "models/calibration/calibration.hpp"

namespace windtunnel {

// `comment` becomes the first line, with line breaks replaced by blanks.
std::string calibration_text(const Calibration& calibration, const std::string& comment);

}  // namespace windtunnel
