// The first lines of each calibration of the library hold its name and its GPU, so that finding one
// calibration does not require reading all of them.
#pragma once

#include <string>
#include <vector>

#include "scenarios/language/library/library.hpp"

namespace windtunnel {

struct CalibrationHead {
  std::string name;
  std::string gpu;   // Calibration::gpu
  LibraryFile file;  // the whole calibration
};

const std::vector<CalibrationHead>& library_calibration_heads();

}  // namespace windtunnel
